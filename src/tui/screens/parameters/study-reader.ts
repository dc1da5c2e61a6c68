import { type Study, type StudyQuestion, studySteps } from './study.js';

/** Duration of one turn, in ms, which one more step may exceed. A key waits no longer. */
const TURN = 5;
/** Minimum time between two reports of progress, in ms. */
const PATIENCE = 100;
/** While runs keep ending, studies take at most 1/`PARTS` of the time. */
const PARTS = 5;

/** A study being computed. */
type Work = { readonly of: StudyQuestion; readonly steps: Generator<number, Study>; spent: number };

/**
 * Computes studies between key presses, one at a time. A result stays valid while the same runs have ended. When more runs end, it
 * is shown until the next study, which begins after a pause, is complete.
 */
export class StudyReader {
  readonly #changed: () => void;
  #study: Study | null = null;
  #asked: StudyQuestion | null = null;
  #work: Work | null = null;
  #done = 0;
  #told = 0;
  /** Earliest time of the next study of the same kind. */
  #notBefore = 0;
  #timer: NodeJS.Timeout | null = null;

  /** `changed`: called when a study is complete, and occasionally during its computation. */
  constructor(changed: () => void) {
    this.#changed = changed;
  }

  /** The last study of the requested kind, possibly of fewer runs; null: none yet. */
  get study(): Study | null {
    return this.#study;
  }

  /** Progress of the first study of its kind, 0 to 1. */
  get done(): number {
    return this.#done;
  }

  /** Sets the question, which starts the computation; null: no question. */
  want(question: StudyQuestion | null): void {
    if (question === null) return this.#forget();
    const known = this.#asked;
    if (known !== null && isSame(question, known)) return;
    this.#asked = question;
    if (this.#study !== null && !isOfOneKind(question, this.#study.of)) this.#study = null;
    // A study of fewer runs is completed, because time has been spent on it already.
    if (this.#work !== null && isOfOneKind(question, this.#work.of)) return;
    this.#stop();
    if (this.#study === null || !isSame(question, this.#study.of)) this.#begin(question);
  }

  #forget(): void {
    this.rest();
    this.#study = null;
  }

  /** Stops computing when another screen is shown. Results are kept. */
  rest(): void {
    this.#stop();
    this.#asked = null;
  }

  #stop(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    this.#work = null;
  }

  #begin(question: StudyQuestion): void {
    const pause = this.#study === null ? 0 : Math.max(0, this.#notBefore - performance.now());
    this.#work = { of: question, steps: studySteps(question), spent: 0 };
    this.#done = 0;
    this.#timer = setTimeout(() => this.#turn(this.#work!), pause);
  }

  #turn(work: Work): void {
    const start = performance.now();
    let step = work.steps.next();
    while (step.done !== true && performance.now() - start < TURN) step = work.steps.next();
    const now = performance.now();
    work.spent += now - start;
    if (step.done === true) return this.#found(step.value, work, now);
    this.#done = step.value;
    this.#timer = setTimeout(() => this.#turn(work), 0);
    // Progress is not shown while an older study is.
    if (this.#study !== null || now - this.#told < PATIENCE) return;
    this.#told = now;
    this.#changed();
  }

  #found(study: Study, work: Work, now: number): void {
    this.#stop();
    this.#study = study;
    this.#notBefore = now + (PARTS - 1) * work.spent;
    const asked = this.#asked;
    if (asked !== null && !isSame(asked, work.of)) this.#begin(asked);
    this.#changed();
  }
}

/** Whether two questions differ at most in their runs. */
function isOfOneKind(a: StudyQuestion, b: StudyQuestion): boolean {
  return (
    a.sweep === b.sweep &&
    a.filter === b.filter &&
    a.metric === b.metric &&
    a.goal === b.goal &&
    a.scale === b.scale &&
    a.fromSeeds === b.fromSeeds
  );
}

/** Whether two questions have the same runs with the same results: an update replaces the object of a run. */
function isSame(a: StudyQuestion, b: StudyQuestion): boolean {
  if (!isOfOneKind(a, b) || a.runs.length !== b.runs.length) return false;
  return (
    a.runs === b.runs ||
    a.runs.every((run, index) => {
      const other = b.runs[index]!;
      return run === other || (run.id === other.id && Object.is(run.metrics[a.metric], other.metrics[a.metric]));
    })
  );
}
