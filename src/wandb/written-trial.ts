import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { openMetrics } from '../metrics/run-metrics.js';
import { readFoundFacts } from '../metrics/tree/found-facts.js';
import type { ObjectiveValues, Trial } from '../spec/search/trials.js';

/**
 * How a run ended and what it has written of its metric, by its file of W&B; without one, it counts as running.
 *
 * @param directory Below which wandb writes.
 */
export function readTrial(directory: string, run: string, metric: string | null): Pick<Trial, 'state' | 'values'> {
  const folder = lastFolder(join(directory, 'wandb'), run);
  if (folder === null) return { state: 'running', values: null };
  const facts = readFoundFacts({ directory: folder, place: '', kind: 'W&B', files: [], folders: [] });
  const state = facts.state === null ? 'running' : facts.state === 'done' ? 'done' : 'broken';
  return { state, values: metric === null ? null : valuesOf(folder, metric) };
}

/** Names of the folders begin with the time; a run that was resumed has several. */
function lastFolder(directory: string, run: string): string | null {
  try {
    const name = readdirSync(directory)
      .filter((each) => /^(?:offline-)?run-\d+_\d+-(.*)$/.exec(each)?.[1] === run)
      .sort()
      .at(-1);
    return name === undefined ? null : join(directory, name);
  } catch {
    return null;
  }
}

function valuesOf(folder: string, metric: string): ObjectiveValues | null {
  const metrics = openMetrics(folder, { places: { folders: [], patterns: {} } }).readNow();
  const { y } = metrics.series(metric);
  // What the program has put into the summary has no rows.
  const written = y.length > 0 ? Array.from(y) : [metrics.last([metric])[metric] ?? Number.NaN];
  const values = written.filter((value) => Number.isFinite(value));
  if (values.length === 0) return null;
  return { min: Math.min(...values), max: Math.max(...values), last: values.at(-1)! };
}
