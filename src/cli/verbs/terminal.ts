import { UserError } from '../../base/user-error.js';
import type { RunSummary } from '../../client/fleet.js';
import { attachCommand, leaveKey, terminalOf } from '../../files/run-directory/terminal-note.js';
import { runInForeground } from '../../processes/started-program.js';
import { chooseRuns } from '../chosen-runs.js';
import { withFleet } from '../open-fleet.js';
import type { CommonOptions } from '../options.js';
import { own } from '../ports.js';
import { hasPerson, print } from '../terminal.js';

/** `memrl-tui terminal RUN`: shows the terminal of a run with `terminal: true`, until the user leaves it. */
export async function terminal(words: readonly string[], options: CommonOptions): Promise<number> {
  if (!hasPerson()) {
    throw new UserError('There is no terminal here to show another one in.', '`memrl-tui logs` prints its output.');
  }
  const run = await withFleet(options, async (fleet) => {
    const [first, ...others] = await chooseRuns(words, fleet);
    if (others.length === 0) return first!;
    throw new UserError(`These are ${others.length + 1} runs, and one terminal is shown at a time.`, 'Name one run.');
  });
  enterTerminal(run, own().env);
  return 0;
}

/**
 * Shows the terminal of a run in this one, and returns when the user has left it or the run has ended.
 *
 * @throws {UserError} When the run has none here, or tmux cannot show it.
 */
export function enterTerminal({ name, directory, attempt }: RunSummary, environment: NodeJS.ProcessEnv): void {
  const socket = terminalOf({ directory, number: attempt });
  if (socket === null) {
    throw new UserError(
      `${name} has no terminal.`,
      'Write `terminal: true` in the sweep file, and launch that again: it holds from the next attempt on.',
    );
  }
  print(['', `The terminal of ${name}; ${leaveKey.shown} leaves it, and the run goes on.`]);
  const { program, args } = attachCommand(socket);
  // A tmux refuses to show another one as long as it believes to be within one.
  const outside = { ...environment };
  delete outside['TMUX'];
  const { error, status } = runInForeground(program, args, { env: outside });
  if (error === undefined && status === 0) return;
  const why = error === undefined ? `tmux ended with exit code ${status}` : error.message;
  throw new UserError(`The terminal of ${name} could not be shown: ${why}.`, 'Its output is in its log.');
}
