import { UserError } from '../../base/user-error.js';
import { chooseRuns } from '../chosen-runs.js';
import { enterTerminal } from '../editor/enter-terminal.js';
import { withFleet } from '../open-fleet.js';
import type { CommonOptions } from '../options.js';
import { own } from '../ports.js';
import { hasPerson } from '../terminal.js';

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
