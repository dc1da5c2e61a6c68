import { knownRuns } from '../known-runs.js';
import { runsDirectory } from '../options.js';
import { print } from '../terminal.js';
import { launchOptions } from '../verb-options.js';
import { verbs } from '../verb-table.js';
import { candidates, forShell, typedLine } from './candidates.js';

/**
 * `memrl-tui __complete SHELL LINE`: prints one completion on each line for the word at the end of the line. Prints nothing when it
 * fails: a message would appear within the typed text.
 */
export async function complete(shell: string, line: string): Promise<number> {
  const typed = typedLine(line);
  const runsAt = typed.words.lastIndexOf('--runs');
  const look = async () => knownRuns(runsDirectory(runsAt < 0 ? undefined : typed.words[runsAt + 1]), PATIENCE_MS);
  const words = await candidates(typed, { verbs, launchOptions }, look).catch(() => []);
  print(forShell(shell, words, typed));
  return 0;
}

/** Time limit after Tab, ms. */
const PATIENCE_MS = 200;
