import { hasLeftNothing } from '../../metrics/run-places.js';
import { isTurnOver } from '../../processes/turn.js';
import type { PlannedRun } from '../../spec/planned-run.js';

/** The reader is told of a run that has been up for so long and has left something to be read, ms; */
const YOUTH_MS = 100;
/** of any other after so long, ms. A reader polls as often. */
const LONGEST_YOUTH_MS = 1000;

/** `hasPast`: it was up before, or before we were there. */
type Young = { readonly run: PlannedRun; readonly hasPast: boolean };

/** Readings of runs so young that the reader need not know of them yet: most runs that last a moment write nothing. */
export class YoungReadings<Reading extends Young> {
  readonly #grown: (reading: Reading) => void;
  /** `since`: on the line of `performance.now()`. */
  readonly #young = new Map<Reading, { readonly since: number; wasBarren: boolean }>();
  #timer: NodeJS.Timeout | null = null;

  /** @param grown It is young no more; it was not deleted before. */
  constructor(grown: (reading: Reading) => void) {
    this.#grown = grown;
  }

  add(reading: Reading): void {
    this.#young.set(reading, { since: performance.now(), wasBarren: false });
    this.#timer ??= setTimeout(() => this.#look(), YOUTH_MS).unref();
  }

  has(reading: Reading): boolean {
    return this.#young.has(reading);
  }

  /** Whether it was there. */
  delete(reading: Reading): boolean {
    return this.#young.delete(reading);
  }

  close(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
  }

  #look(): void {
    this.#timer = null;
    for (const [reading, known] of this.#young) {
      const age = performance.now() - known.since;
      // The others are younger.
      if (age < YOUTH_MS) break;
      const isOld = reading.hasPast || age >= LONGEST_YOUTH_MS;
      const hasGrown = isOld || (!known.wasBarren && !isBarren(reading.run));
      known.wasBarren = !hasGrown;
      if (hasGrown) {
        this.#young.delete(reading);
        this.#grown(reading);
      }
      if (isTurnOver()) break;
    }
    if (this.#young.size > 0) this.#timer = setTimeout(() => this.#look(), YOUTH_MS).unref();
  }
}

/** Whether nothing is to be read of the run, so far. */
export function isBarren({ directory, metrics }: PlannedRun): boolean {
  return hasLeftNothing(directory, metrics.folders ?? []);
}
