import { answersSteps, type GroupAnswer } from '../../analysis/answer/sweep-answers.js';
import type { Steps } from '../../base/steps.js';
import type { RunFilesPort, RunSummary, SweepSummary } from '../state/port.js';
import { SeedNames } from './seed-names.js';
import type { Tally } from './tally.js';
import { Throttle } from './throttle.js';

/** Minimum time between two searches, ms. */
const PAUSE_MS = 3000;

const none: readonly GroupAnswer[] = [];

/** `key`: all that the answer may depend on. */
type Question = { readonly key: string; readonly runs: readonly RunSummary[]; readonly sweep: SweepSummary };

type ShownRuns = {
  readonly runs: readonly RunSummary[];
  readonly sweeps: readonly SweepSummary[];
  readonly tally: Tally;
};

/** Finds which settings of the shown sweep are best, between key presses, and again when more runs are done or have been read. */
export class AnswerFinder {
  readonly #changed: () => void;
  readonly #seeds: SeedNames;
  readonly #throttle = new Throttle(
    () => this.#find(),
    () => performance.now(),
    PAUSE_MS,
  );
  #asked: Question | null = null;
  #known: { readonly sweep: string; readonly answers: readonly GroupAnswer[] } | null = null;

  /** @param changed Called when an answer has been found. */
  constructor(files: Pick<RunFilesPort, 'fromSeeds'>, changed: () => void) {
    this.#changed = changed;
    this.#seeds = new SeedNames(files, changed);
  }

  /** The answers that are known; none of several sweeps. Starts a search where they may have changed. */
  answers({ runs, sweeps, tally }: ShownRuns): readonly GroupAnswer[] {
    const [sweep] = sweeps;
    if (sweep === undefined || sweeps.length > 1) return none;
    const { counts, total, unhealthy, metric } = tally;
    const key = JSON.stringify([sweep.name, total, counts.done, [...unhealthy], metric?.count, metric?.nan]);
    if (key !== this.#asked?.key && counts.done > 0) {
      this.#asked = { key, runs, sweep };
      this.#throttle.ask();
    }
    return this.#known?.sweep === sweep.name ? this.#known.answers : none;
  }

  close(): void {
    this.#throttle.close();
  }

  *#find(): Steps {
    // Nothing is computed in the turn of a frame or of a key.
    yield;
    const { runs, sweep } = this.#asked!;
    const steps = answersSteps(runs, sweep, { fromSeeds: this.#seeds.of(sweep.directory) });
    let step = steps.next();
    for (; step.done !== true; step = steps.next()) yield;
    this.#known = { sweep: sweep.name, answers: step.value.answers };
    this.#changed();
  }
}
