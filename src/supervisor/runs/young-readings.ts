import { untilWholeSecond } from '../../base/lazy.js';
import { hasLeftNothing } from '../../metrics/run-places.js';
import { isTurnOver, passTurn } from '../../processes/turn.js';
import type { PlannedRun } from '../../spec/planned-run.js';

/** The reader is told of a run that has been up for so long and has left something to be read, ms. */
const YOUTH_MS = 100;
/** The second check of a run that had left nothing at the first one, ms after its start. */
const LONGEST_YOUTH_MS = 1000;
/** Share of its age, and of a core's time, that determine when a run which has left nothing is checked again; and the limit, ms. */
const QUIET_SHARE = 0.05;
const CHECKING_SHARE = 0.03;
const LONGEST_PAUSE_MS = 5000;

/** `hasPast`: it was up before, or before we were there. */
type Young = { readonly run: PlannedRun; readonly hasPast: boolean };

/** `grown`: there is something to be read of it; it was not deleted before. `barren`: it has left nothing so far. */
type Told<Reading> = { readonly grown: (reading: Reading) => void; readonly barren: (reading: Reading) => void };

/**
 * Readings of runs of which the reader need not know yet, as they have written nothing: most that last a moment never do, and for
 * one that only waits no thread has to be there.
 */
export class YoungReadings<Reading extends Young> {
  readonly #told: Told<Reading>;
  /** `since`: on the line of `performance.now()`. */
  readonly #young = new Map<Reading, { readonly since: number; wasBarren: boolean }>();
  /** Those that are not young any more, and had left nothing at the last check. */
  readonly #barren = new Set<Reading>();
  #barrenSince = 0;
  #timer: NodeJS.Timeout | null = null;
  #checking: NodeJS.Timeout | null = null;
  #isClosed = false;

  constructor(told: Told<Reading>) {
    this.#told = told;
  }

  add(reading: Reading): void {
    this.#young.set(reading, { since: performance.now(), wasBarren: false });
    this.#timer ??= setTimeout(() => this.#look(), YOUTH_MS).unref();
  }

  has(reading: Reading): boolean {
    return this.#young.has(reading) || this.#barren.has(reading);
  }

  /** Whether it has been up for a while, and had left nothing at the last check. */
  isBarren(reading: Reading): boolean {
    return this.#barren.has(reading);
  }

  /** Whether it was there. */
  delete(reading: Reading): boolean {
    return this.#young.delete(reading) || this.#barren.delete(reading);
  }

  close(): void {
    this.#isClosed = true;
    for (const timer of [this.#timer, this.#checking]) if (timer !== null) clearTimeout(timer);
  }

  #look(): void {
    this.#timer = null;
    for (const [reading, known] of this.#young) {
      const age = performance.now() - known.since;
      // The others are younger.
      if (age < YOUTH_MS) break;
      const isOld = reading.hasPast || age >= LONGEST_YOUTH_MS;
      if (isOld || !known.wasBarren) this.#judge(reading, isOld);
      known.wasBarren = true;
      if (isTurnOver()) break;
    }
    if (this.#young.size > 0) this.#timer = setTimeout(() => this.#look(), YOUTH_MS).unref();
  }

  #judge(reading: Reading, isOld: boolean): void {
    const staysUnread = (!isOld || mayWait(reading.run)) && isBarren(reading.run);
    if (staysUnread && !isOld) return;
    this.#young.delete(reading);
    if (!staysUnread) return this.#told.grown(reading);
    this.#barren.add(reading);
    this.#told.barren(reading);
    this.#barrenSince = performance.now();
    this.#checkLater(0);
  }

  /** @param spentMs Time that the last check took. */
  #checkLater(spentMs: number): void {
    const now = performance.now();
    const quiet = Math.min(LONGEST_PAUSE_MS, (now - this.#barrenSince) * QUIET_SHARE);
    const longest = Math.max(spentMs / CHECKING_SHARE, quiet);
    const pause = longest > 1000 ? longest : 0;
    if (this.#checking !== null) clearTimeout(this.#checking);
    this.#checking = setTimeout(() => void this.#check(), pause + untilWholeSecond(now + pause)).unref();
  }

  async #check(): Promise<void> {
    let spentMs = 0;
    for (const reading of this.#barren) {
      const begun = performance.now();
      const hasGrown = !isBarren(reading.run);
      spentMs += performance.now() - begun;
      if (hasGrown && this.#barren.delete(reading)) this.#told.grown(reading);
      await passTurn();
      if (this.#isClosed) return;
    }
    this.#checking = null;
    if (this.#barren.size > 0) this.#checkLater(spentMs);
  }
}

/** Whether nothing is to be read of the run, so far. */
export function isBarren({ directory, metrics }: PlannedRun): boolean {
  return hasLeftNothing(directory, metrics.folders ?? []);
}

/** Whether the reader has nothing to say of the run before that has written something, such as that its rule cannot be applied. */
function mayWait({ metrics, stopWhen }: PlannedRun): boolean {
  return stopWhen === null && Object.keys(metrics.patterns ?? {}).length === 0;
}
