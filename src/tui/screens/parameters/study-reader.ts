import { type Study, type StudyQuestion, studySteps } from './study.js';

/** A turn takes so long, ms, and one step more: a key waits no longer. */
const TURN = 5;
/** How far it is is told no more often than this, ms. */
const PATIENCE = 100;
/** While runs keep ending, at most one part in so many of the time goes into studies. */
const PARTS = 5;

/** A study in the making. */
type Work = { readonly of: StudyQuestion; readonly steps: Generator<number, Study>; spent: number };

/**
 * Makes studies between two keys, one at a time. What was found stays for as long as the same runs have ended; while more of
 * them end it is shown until the next study is through, which is begun after a pause.
 */
export class StudyReader {
  readonly #changed: () => void;
  #study: Study | null = null;
  #asked: StudyQuestion | null = null;
  #work: Work | null = null;
  #done = 0;
  #told = 0;
  /** When the next study of the same kind may begin. */
  #notBefore = 0;
  #timer: NodeJS.Timeout | null = null;

  /** `changed`: called when something was found, and now and then while it is being looked for. */
  constructor(changed: () => void) {
    this.#changed = changed;
  }

  /** The last study of what is asked, perhaps of fewer runs; null: there is none yet. */
  get study(): Study | null {
    return this.#study;
  }

  /** How much is done of the first study of its kind, 0 … 1. */
  get done(): number {
    return this.#done;
  }

  /** Asking is what starts the work; null: nothing is asked. */
  want(question: StudyQuestion | null): void {
    if (question === null) return this.#forget();
    const known = this.#asked;
    if (known !== null && isSame(question, known)) return;
    this.#asked = question;
    if (this.#study !== null && !isOfOneKind(question, this.#study.of)) this.#study = null;
    // A study of fewer runs is worth the time already spent on it.
    if (this.#work !== null && isOfOneKind(question, this.#work.of)) return;
    this.#stop();
    if (this.#study === null || !isSame(question, this.#study.of)) this.#begin(question);
  }

  #forget(): void {
    this.rest();
    this.#study = null;
  }

  /** Another screen is shown: nothing is worked out for nobody. What is known stays. */
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
    // While an older study is shown nobody sees how far the next one is.
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

/** Whether only the runs may differ. */
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

/** Whether the same runs are asked for, with the same results: a run that is told anew is another object. */
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
