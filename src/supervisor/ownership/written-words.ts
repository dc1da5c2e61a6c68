import { existsSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import type { RunId } from '../../base/ids.js';
import type { Evidence, WrittenFiles } from '../../contract/written-files.js';
import { curvesIn, hasRunsOf } from '../../metrics/metrics-file.js';
import type { PlannedRun } from '../../spec/planned-run.js';
import type { BookedFile } from './file-book.js';

/** Limits on the files of one run that are recorded, and on the refused ones. */
const MOST_FILES = 256;
const MOST_REFUSED = 8;
/** Limit on the other runs that are named. */
const NAMED = 3;

/**
 * The contents of a run's `written.json`.
 *
 * @param shared Folders of `metrics.folders` that other runs use, too.
 */
export function writtenFiles(run: PlannedRun, files: readonly BookedFile[], shared: readonly string[]): WrittenFiles {
  const own = files.filter((file) => file.is === 'own').slice(0, MOST_FILES);
  const refused = files.filter((file) => file.is === 'refused').slice(0, MOST_REFUSED);
  const unread = refused.find(({ path }) => !hasRunsOf(run.directory, path));
  const doubt = unread ?? own.find(({ sharers }) => sharers.length > 0);
  const curves = unread === undefined ? [] : curvesIn(unread.path);
  const fix = doubt === undefined ? null : fixOf(run, doubt.path);
  return {
    version: 1,
    files: own.map(({ path, by, attempt }) => ({ path, by, attempt, why: evidence[by] })),
    refused: refused.map((file) => ({ path: file.path, why: whyRefused(file) })),
    shared: [...shared],
    warning:
      [doubt === undefined ? null : `${warningOf(run, doubt)}; ${fix}`, overWords(files)]
        .filter((words) => words !== null)
        .join('; ') || null,
    ...(curves.length === 0 ? {} : { curves }),
    fix,
  };
}

function overWords(files: readonly BookedFile[]): string | null {
  const over = files.filter(({ is }) => is === 'own').length - MOST_FILES;
  if (over <= 0) return null;
  return `of the files that the run writes outside its directory ${MOST_FILES} are read, and ${over} more are left out`;
}

const evidence: Readonly<Record<Evidence, string>> = {
  open: 'a process of the run had it open for writing',
  name: 'its name has the number of a process of the run',
  argument: 'of all runs, only this one names it, or a folder above it, in its command',
  folder: 'it lies in a folder in which this run keeps a file open, as the others do elsewhere',
  alone: 'no other run was up in its working directory while it was written',
};

function warningOf(run: PlannedRun, file: BookedFile): string {
  const place = relative(run.cwd, file.path);
  const where = place.startsWith('..') ? file.path : place;
  if (file.is === 'refused') return `${where} is not read: ${whyRefused(file)}`;
  const others = namesOf(file.sharers);
  return `${dirname(where)} has files of ${others}, too, which other programs take for one run`;
}

function whyRefused({ kind, others }: Extract<BookedFile, { is: 'refused' }>): string {
  const names = namesOf(others);
  switch (kind) {
    case 'several':
      return names === '' ? 'another run writes to it, too' : `${names} wrote to it, too`;
    case 'either':
      return `${names} ran beside this one while it was written, and either may have written it`;
    case 'older':
      return 'it was there before this run began, so it has the metrics of others as well';
  }
}

/** `s0, s1 and 12 others`, without the name of the sweep. */
function namesOf(ids: readonly RunId[]): string {
  const names = ids.slice(0, NAMED).map((id) => basename(id));
  const rest = ids.length - names.length;
  return rest > 0 ? `${names.join(', ')} and ${rest} others` : names.join(' and ');
}

/** Options that tell programs where to write. */
const outputOption =
  /^(?:--?)?([\w.-]*?(?:out|output|log|logs|logging|save|run|work|result|results|checkpoint|ckpt|default_root)[_-]?(?:dir|path|folder|root|directory))=/i;

/** The change of the sweep file that gives each run a file of its own. */
function fixOf({ argv, env, cwd }: PlannedRun, path: string): string {
  if (path.endsWith('.wandb')) return "`env: { WANDB_DIR: '${run_dir}' }` gives each run its own";
  if (basename(path).startsWith('mlflow'))
    return "`env: { MLFLOW_TRACKING_URI: 'sqlite:///${run_dir}/mlflow.db' }` gives each run its own";
  if (/\.(db|sqlite3?)$/.test(path)) return "`env: { TRACKIO_DIR: '${run_dir}/trackio' }` gives each run its own";
  const option = argv.find((word) => outputOption.test(word));
  if (option !== undefined)
    return `\`'${option.slice(0, option.indexOf('='))}=\${run_dir}'\` in \`command\` gives each run its own`;
  if (existsSync(join(dirname(path), '.hydra')))
    return "`'hydra.run.dir=${run_dir}'` in `command` gives each run its own";
  const script = argv
    .slice(1)
    .find((word) => !word.startsWith('/') && word.includes('.') && existsSync(join(cwd, word)));
  const moved = script === undefined ? '' : `, with \`${join(cwd, script)}\` in \`command\`,`;
  const module =
    argv.includes('-m') && env['PYTHONPATH'] === undefined ? `, with \`env: { PYTHONPATH: ${cwd} }\`,` : moved;
  return `\`cwd: '\${run_dir}'\`${module} gives each run its own`;
}
