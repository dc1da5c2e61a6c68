import { answersSteps, type GroupAnswer } from '../../analysis/answer/sweep-answers.js';
import { causeOfKind, type FoundCause } from '../../analysis/failures/failure-kinds.js';
import type { Steps } from '../../base/steps.js';
import { readOrWait, type RunFilesPort, type RunSummary, type SweepSummary } from '../state/port.js';
import type { Tally } from './tally.js';
import { Throttle } from './throttle.js';
import type { Branch } from './tree/branch.js';

/** Minimum time between two searches for the best settings, ms. */
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

const noNames: readonly string[] = [];

/** The parameters that a sweep computes from seeds, read once for the sweep that is shown. */
export class SeedNames {
  readonly #files: Pick<RunFilesPort, 'fromSeeds'>;
  readonly #changed: () => void;
  #known: { readonly directory: string; readonly names: readonly string[] } | null = null;

  /** @param changed Called when names have arrived that were not there yet. */
  constructor(files: Pick<RunFilesPort, 'fromSeeds'>, changed: () => void) {
    this.#files = files;
    this.#changed = changed;
  }

  /** Returns the same list while the sweep is the same. @param directory That of the sweep; undefined: there is none. */
  of(directory: string | undefined): readonly string[] {
    if (directory === undefined) return noNames;
    if (this.#known?.directory !== directory) {
      const names = readOrWait(() => this.#files.fromSeeds?.(directory) ?? noNames, this.#changed);
      if (names === undefined) return noNames;
      this.#known = { directory, names };
    }
    return this.#known.names;
  }
}

/** The search for causes takes at most 1/`parts` of the time. */
const parts = 5;

type KindQuestion = {
  readonly asked: string;
  readonly kind: readonly RunSummary[];
  readonly runs: readonly RunSummary[];
};
type Known = FoundCause & { readonly asked: string };

/**
 * Finds parameters associated with the kinds of failure on the screen. Searches one kind at a time, between key presses, and again
 * when more runs of that kind or more done runs have ended.
 */
export class FailureCauseFinder {
  readonly #changed: () => void;
  readonly #known = new Map<string, Known>();
  readonly #wanted = new Map<string, KindQuestion>();
  #timer: NodeJS.Timeout | null = null;
  #pause = 0;

  /** `changed`: called when a search has finished. */
  constructor(changed: () => void) {
    this.#changed = changed;
  }

  /**
   * The current answer; undefined until the first search has finished. Calling this starts the search.
   *
   * @param runs All runs of the list; the done ones are compared with this kind.
   * @param done Number of done runs.
   */
  causeOf({ key, runs: kind }: Branch, runs: readonly RunSummary[], done: number): FoundCause | undefined {
    const known = this.#known.get(key);
    const asked = `${kind.length} ${done}`;
    if (known?.asked !== asked) this.#want(key, { asked, kind, runs });
    return known;
  }

  close(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#wanted.clear();
  }

  #want(key: string, question: KindQuestion): void {
    this.#wanted.set(key, question);
    this.#timer ??= setTimeout(() => this.#findNext(), this.#pause);
  }

  #findNext(): void {
    this.#timer = null;
    const [next] = this.#wanted;
    if (next === undefined) return;
    const [key, question] = next;
    this.#wanted.delete(key);
    const start = performance.now();
    this.#known.set(key, { asked: question.asked, ...causeOfKind(question.kind, question.runs) });
    this.#pause = (parts - 1) * (performance.now() - start);
    if (this.#wanted.size > 0) this.#timer = setTimeout(() => this.#findNext(), this.#pause);
    this.#changed();
  }
}
