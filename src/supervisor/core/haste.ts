import { setFlagsFromString } from 'node:v8';

/** So many runs are worth the memory. */
export const MANY_RUNS = 20_000;

/** Long enough for what follows: rows for the clients, records, metrics; ms. */
const HASTE_MS = 10_000;

let end: NodeJS.Timeout | null = null;

/**
 * Lets the heap grow for a while. A supervisor is started with `--optimize-for-size`, so that it stays small; while it takes in
 * fifty thousand runs, collecting the same garbage time and again would be more than half of its work.
 */
export function makeHaste(): void {
  if (end === null) setFlagsFromString('--no-optimize-for-size');
  else clearTimeout(end);
  end = setTimeout(() => {
    end = null;
    setFlagsFromString('--optimize-for-size');
  }, HASTE_MS).unref();
}
