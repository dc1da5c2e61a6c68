/** How the progress of a run has moved; where it says nothing of its progress, its rows. Times: ms, any zero. */
export type Movement = {
  /** When it moved last. */
  readonly at: number;
  /** From one move to the next, on the average, and the longest so far; up to the first move, from its start. */
  readonly every: number;
  readonly longest: number;
};

/**
 * What a run has to do until its budget is used up, by its own pace. `seconds`: from `at` on (ms, any zero). `error`: how far off
 * that may be: standard deviation of its logarithm.
 */
export type ToBudget = { readonly seconds: number; readonly at: number; readonly error: number };

/** Even of a steady pace it is not known that it lasts; it is known the less, the fewer readings there are. */
const LASTING_ERROR = 0.12;
const ERROR_OF_ONE_READING = 0.5;
/** Where there is only the start of the process to go by: start-up counts as work. */
const ERROR_FROM_START = 1;

/** A step of progress is a jump where it is so many times as long as usual, and more than a small one. */
const UNUSUAL_STEPS = 5;
const SMALL_STEP = 0.1;

type Mark = { readonly at: number; readonly progress: number };

/** An even number, so that the last mark stays when every other one is dropped. */
const MOST_MARKS = 64;

/** The pace of one attempt of a run, as far as its own progress tells. Times: ms, any zero. */
export class OwnPace {
  readonly #since: number;
  /** How far it was at some moments, the first of this attempt first: a resumed run does not start at zero. */
  #marks: Mark[] = [];
  /** The moves of this attempt; null: it has not moved yet. `mark`: how far it was at the last one. */
  #moves: { count: number; first: number; last: number; longest: number; mark: number } | null = null;

  /** @param since When the process came up. */
  constructor(since: number) {
    this.#since = since;
  }

  /** @param mark Moves with the run where it does not say how far it is. */
  note(progress: number | null, mark: number, now: number): void {
    // A resumed run may begin anew: then its pace is not that since its old rows.
    if (progress !== null && progress < (this.#marks[0]?.progress ?? Infinity)) this.#marks = [{ at: now, progress }];
    else if (progress !== null && progress !== this.#marks.at(-1)!.progress) this.#mark({ at: now, progress });
    this.#noteMove(progress ?? mark, now);
  }

  /**
   * As its pace was over the later half of its time, up to when it moved last: many runs begin faster or slower than they continue.
   * That it has not moved since makes it no slower, until it stands still.
   */
  toBudget(progress: number | null): ToBudget | null {
    const [first] = this.#marks;
    if (progress === null || first === undefined) return null;
    const last = { at: this.#marks.at(-1)!.at, progress };
    const isMoving = this.#marks.length > 1;
    const from = isMoving ? this.#before((first.at + last.at) / 2) : { at: this.#since, progress: 0 };
    const seconds = ((1 - progress) * (last.at - from.at)) / (progress - from.progress) / 1000;
    if (!(seconds >= 0) || !Number.isFinite(seconds)) return null;
    return { seconds, at: last.at, error: isMoving ? this.error : ERROR_FROM_START };
  }

  /**
   * How much of its budget the run has used: some say that they are through when they end early, and come there in one step from
   * where they were. Null: there are too few readings to tell.
   */
  get used(): number | null {
    const [before, last] = this.#marks.slice(-2);
    if (before === undefined || last === undefined) return null;
    const [first] = this.#marks;
    const from = before === first ? { at: this.#since, progress: 0 } : first!;
    const usual = ((before.progress - from.progress) * (last.at - before.at)) / (before.at - from.at);
    const isJump = last.progress - before.progress > SMALL_STEP + UNUSUAL_STEPS * usual;
    return isJump ? before.progress : last.progress;
  }

  /** Standard deviation of the logarithm of what is left, if the pace stays as it is. */
  get error(): number {
    return LASTING_ERROR + ERROR_OF_ONE_READING / Math.sqrt(Math.max(1, this.#moves?.count ?? 0));
  }

  #mark(mark: Mark): void {
    this.#marks.push(mark);
    if (this.#marks.length > MOST_MARKS) this.#marks = this.#marks.filter((_, index) => index % 2 === 0);
  }

  /** The last mark before a time. */
  #before(time: number): Mark {
    return this.#marks.findLast(({ at }) => at <= time)!;
  }

  get movement(): Movement | null {
    if (this.#moves === null) return null;
    const { count, first, last, longest } = this.#moves;
    return { at: last, every: count === 1 ? longest : (last - first) / (count - 1), longest };
  }

  #noteMove(mark: number, now: number): void {
    const before = this.#moves;
    if (before === null) {
      if (mark > 0) this.#moves = { count: 1, first: now, last: now, longest: now - this.#since, mark };
    } else if (before.mark !== mark) {
      const longest = before.count === 1 ? now - before.last : Math.max(before.longest, now - before.last);
      this.#moves = { count: before.count + 1, first: before.first, last: now, longest, mark };
    }
  }
}

/** A run stands still when it has not moved for so long, ms; for so many times its usual pause, and its longest one. */
const STILL_MS = 10_000;
const USUAL_PAUSES = 10;
const LONGEST_PAUSES = 3;

/** Whether a run has not moved for much longer than usual: then nobody knows when it ends. */
export function standsStill({ at, every, longest }: Movement, now: number): boolean {
  return now - at > Math.max(STILL_MS, USUAL_PAUSES * every, LONGEST_PAUSES * longest);
}
