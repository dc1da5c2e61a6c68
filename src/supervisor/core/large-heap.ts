import { setFlagsFromString } from 'node:v8';

/** Number of runs from which on speed matters more than memory. */
export const MANY_RUNS = 20_000;

/** Duration of the large heap, long enough for rows, records and metrics of the runs; ms. */
const LARGE_HEAP_MS = 10_000;

let end: NodeJS.Timeout | null = null;

/**
 * Lets the heap grow for a while. A supervisor is started with `--optimize-for-size`, so that it stays small; while it loads fifty
 * thousand runs, repeated garbage collection would take more than half of its time.
 */
export function enlargeHeap(): void {
  if (end === null) setFlagsFromString('--no-optimize-for-size');
  else clearTimeout(end);
  end = setTimeout(() => {
    end = null;
    setFlagsFromString('--optimize-for-size');
  }, LARGE_HEAP_MS).unref();
}
