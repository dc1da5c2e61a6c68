import type { Fleet, RunSummary } from '../client/fleet.js';
import { chosenRuns, isAboutMetrics } from './chosen-runs.js';
import { recalled } from './open-fleet.js';

/**
 * As `chosenRuns`, of the fleet as it is now. Waits for the metrics of ended runs only where the words ask for them: who
 * kills a run by its name does not wait until thousands of files have been read.
 */
export async function chooseRuns(words: readonly string[], fleet: Fleet): Promise<RunSummary[]> {
  if (isAboutMetrics(words, [...fleet.runs.values()])) await recalled(fleet);
  return chosenRuns(words, [...fleet.runs.values()], Date.now());
}
