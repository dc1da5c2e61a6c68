import type { Fleet } from '../../client/fleet.js';
import { patienceOf, recalled, withFleet } from '../open-fleet.js';
import type { CommonOptions } from '../options.js';
import { openFolders, viewedPaths } from '../viewed-paths.js';

/** Runs and sweeps as a supervisor or folders give them. */
export type KnownFleet = Pick<Fleet, 'runs' | 'sweeps' | 'status'>;

/**
 * Shows runs with their metrics: those of the folders that the words begin with, or else of the runs directory. Gives the words that are
 * left to choose among them.
 */
export async function showRuns(
  words: readonly string[],
  options: CommonOptions,
  show: (fleet: KnownFleet, words: readonly string[]) => number,
): Promise<number> {
  const { paths, rest } = viewedPaths(words, options);
  if (paths.length > 0) return show(await openFolders(paths), rest);
  return withFleet(options, async (fleet) => {
    await recalled(fleet, patienceOf(options));
    return show(fleet, words);
  });
}
