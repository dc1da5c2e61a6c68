import { UserError } from '../../base/user-error.js';
import type { Fleet } from '../../client/fleet.js';
import type { Draft } from '../../tui/state/port.js';
import { confirm } from '../act-on-runs.js';
import { exitCodes } from '../answers/exit-codes.js';
import { TerminalEditor } from '../editor/terminal-editor.js';
import { knownSweeps, promised, withFleet } from '../open-fleet.js';
import type { LaunchOptions } from '../options.js';
import { ask, hasPerson, print, remark } from '../terminal.js';

/**
 * `memrl-tui extend [SWEEP]`: opens the text of a sweep in `$EDITOR`, shows what it would change, and asks before it is submitted,
 * and again before it is written to the file that the sweep was launched from. Exit code 2 when the user declined.
 */
export async function extend([asked]: readonly string[], options: LaunchOptions): Promise<number> {
  if (!hasPerson()) {
    throw new UserError(
      'There is no terminal for an editor and a question. Nothing was done.',
      'Change the sweep file and launch it again: `memrl-tui sweeps/abcd.yaml`.',
    );
  }
  return withFleet(options, (fleet) => {
    const editor = new TerminalEditor(fleet, { options, path: null });
    return submitted(editor, editor.extend(onlySweep(fleet, asked)));
  });
}

function onlySweep(fleet: Fleet, asked: string | undefined): string {
  const [sweep, ...others] = knownSweeps(fleet, asked);
  if (others.length === 0) return sweep!;
  const names = [sweep, ...others].join(', ');
  throw new UserError(`There are several sweeps: ${names}.`, `Say which: \`memrl-tui extend ${sweep}\`.`);
}

/** Shows the effect of a text until it is submitted or dropped. */
async function submitted(editor: TerminalEditor, draft: Draft): Promise<number> {
  const { verdict, path } = draft;
  if (verdict.kind === 'unchanged') {
    print([verdict.why]);
    return 0;
  }
  print(verdict.kind === 'ready' ? [verdict.summary, ...verdict.lines.map((line) => `  ${line}`)] : verdict.lines);
  const isReady = verdict.kind === 'ready';
  const answer = (await ask(isReady ? 'Submit? [y/N, e: edit again] ' : 'Edit again? [y/N] ')).trim();
  if (/^e(dit)?$/i.test(answer) || (!isReady && isYes(answer))) return submitted(editor, editor.edit(draft));
  if (!isYes(answer)) {
    remark(`Nothing was submitted. The text is kept in ${path}.`);
    return exitCodes.refused;
  }
  print([promised(await editor.submit(draft))]);
  await offerOwnFile(editor, draft);
  return 0;
}

function isYes(answer: string): boolean {
  return /^y(es)?$/i.test(answer);
}

async function offerOwnFile(editor: TerminalEditor, draft: Draft): Promise<void> {
  const own = editor.ownFile(draft);
  if (own === null) return;
  const { path, kept, isAsKnown } = own;
  if (!isAsKnown)
    return remark(
      `${path} differs from the text before this edit, and is left as it is: the edited text is in ${kept}.`,
    );
  if (!(await confirm(`Write the text to ${path} too?`))) return remark(`The edited text is in ${kept} alone.`);
  editor.writeOwnFile(draft);
  print([`Written to ${path}.`]);
}
