import { existsSync, readFileSync } from 'node:fs';

const schedstat = '/proc/self/schedstat';

/** Work that takes less cannot be told from the noise of the clock and of garbage collection, ms. */
const LEAST_MS = 5;

/**
 * How many times the processor time of a piece of work that of another is, whatever machine this is and whoever shares it: growth
 * with the size of the input, or cost beside something of known cost. The least of three tries each counts.
 */
export function timesAsMuch(work: () => void, reference: () => void): number {
  return leastMs(work) / Math.max(leastMs(reference), LEAST_MS);
}

function leastMs(work: () => void): number {
  return Math.min(...[0, 1, 2].map(() => computedMsOf(work)));
}

/** Processor time of a piece of work, ms. */
export function computedMsOf(work: () => void): number {
  const begin = computedMs();
  work();
  return computedMs() - begin;
}

/** Processor time of this thread so far, ms; of the whole process where the system does not say more. */
function computedMs(): number {
  if (existsSync(schedstat)) return Number(readFileSync(schedstat, 'utf8').split(' ')[0]) / 1e6;
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}
