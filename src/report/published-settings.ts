import { UserError } from '../base/user-error.js';
import { expandSweep } from '../spec/expand/expand-sweep.js';
import { parseSweepFile } from '../spec/file/parse-sweep-file.js';
import { settingsOf, settingsText } from './settings.js';

/** ``Settings of `single` in `sweeps/answer.yaml`: …``: what stands beside a published table. */
const line = /^(- )?Settings of `(\w+)` in `(sweeps\/[\w/.-]+)`:.*$/gm;

/**
 * The text of a page in which each such line says what the sweep file says today.
 *
 * @param read The text of a sweep file.
 * @throws UserError for a group that the file does not have.
 */
export function withPublishedSettings(page: string, read: (path: string) => string): string {
  return page.replace(line, (_all, item: string | undefined, group: string, path: string) => {
    const { runs } = expandSweep(parseSweepFile(read(path), path), {
      runsDirectory: '/runs',
      groups: [group],
      cwd: '/',
      environment: {},
    });
    const own = [...runs].filter((run) => run.group === group);
    if (own.length === 0) throw new UserError(`${path} has no group \`${group}\`.`, 'Correct the line that names it.');
    return `${item ?? ''}Settings of \`${group}\` in \`${path}\`: \`${settingsText(settingsOf(own))}\``;
  });
}
