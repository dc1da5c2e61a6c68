/** When the progress of a run has moved, or its rows where it reports no progress. Times: ms, any zero. */
export type Movement = {
  /** Time of the last move. */
  readonly at: number;
  /** Mean and longest time between two moves; before the second move, the time from its start to the first. */
  readonly every: number;
  readonly longest: number;
};

/**
 * The time until a run has used its budget, by its own pace. `seconds`: counted from `at` (ms, any zero). `error`: standard
 * deviation of the logarithm of `seconds`.
 */
export type ToBudget = { readonly seconds: number; readonly at: number; readonly error: number };

/**
 * Error of the pace, as a standard deviation of its logarithm: even a steady pace may change, and few readings are less certain.
 */
const LASTING_ERROR = 0.12;
const ERROR_OF_ONE_READING = 0.5;
/** The error where only the start of the process is known, so that start-up time counts as work. */
const ERROR_FROM_START = 1;

/** A step of progress is a jump where it is so many times as long as usual, and more than a small one. */
const UNUSUAL_STEPS = 5;
const SMALL_STEP = 0.1;

type Mark = { readonly at: number; readonly progress: number };

/** An even number, so that the last mark stays when every other one is dropped. */
const MOST_MARKS = 64;

/** The pace of one attempt of a run, by its own progress. Times: ms, any zero. */
export class OwnPace {
  readonly #since: number;
  /** The progress at some moments of this attempt, oldest first: a resumed run does not start at zero. */
  #marks: Mark[] = [];
  /** The moves of this attempt; null: it has not moved yet. `mark`: its progress at the last one. */
  #moves: { count: number; first: number; last: number; longest: number; mark: number } | null = null;
  /**
   * How long it has stood still in all, beyond its usual pauses, ms: it was paused, the machine slept, a disk hung. Marks and moves are
   * on the line of time without these.
   */
  #stillMs = 0;

  /** @param since When the process started. */
  constructor(since: number) {
    this.#since = since;
  }

  /** @param mark A value that changes as the run advances, for runs without progress. */
  note(progress: number | null, mark: number, at: number): void {
    const still = this.#stillUntil(at, progress ?? mark);
    this.#stillMs += still.unusual;
    const now = at - this.#stillMs;
    // A run that resumes may fall behind its first reading; its pace is then measured anew.
    if (progress !== null && progress < (this.#marks[0]?.progress ?? Infinity)) this.#marks = [{ at: now, progress }];
    else if (progress !== null && progress !== this.#marks.at(-1)!.progress) this.#mark({ at: now, progress });
    this.#noteMove(progress ?? mark, now, still.whole);
  }

  /** How long it has stood still until this move, and what of that is beyond its usual pause, ms; 0: it has not, or has not moved now. */
  #stillUntil(at: number, mark: number): { whole: number; unusual: number } {
    const { movement } = this;
    if (movement === null || this.#moves!.mark === mark || !standsStill(movement, at)) return { whole: 0, unusual: 0 };
    const whole = at - movement.at;
    return { whole, unusual: whole - movement.every };
  }

  /**
   * The time left by the pace over the later half of the run's time, up to its last move: many runs begin faster or slower than
   * they continue. Time since that move does not lower the pace, until the run stands still.
   */
  toBudget(progress: number | null): ToBudget | null {
    const [first] = this.#marks;
    if (progress === null || first === undefined) return null;
    const last = { at: this.#marks.at(-1)!.at, progress };
    const isMoving = this.#marks.length > 1;
    const from = isMoving ? this.#before((first.at + last.at) / 2) : { at: this.#since, progress: 0 };
    const seconds = ((1 - progress) * (last.at - from.at)) / (progress - from.progress) / 1000;
    if (!(seconds >= 0) || !Number.isFinite(seconds)) return null;
    return { seconds, at: last.at + this.#stillMs, error: isMoving ? this.error : ERROR_FROM_START };
  }

  /**
   * Share of its budget that the run has used. A run that ends early may report full progress in one jump, which does not count.
   * Null: there are too few readings.
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

  /** Standard deviation of the logarithm of the remaining time. */
  get error(): number {
    return LASTING_ERROR + ERROR_OF_ONE_READING / Math.sqrt(Math.max(1, this.#moves?.count ?? 0));
  }

  #mark(mark: Mark): void {
    this.#marks.push(mark);
    if (this.#marks.length > MOST_MARKS) this.#marks = this.#marks.filter((_, index) => index % 2 === 0);
  }

  /** The last mark at or before a time. */
  #before(time: number): Mark {
    return this.#marks.findLast(({ at }) => at <= time)!;
  }

  get movement(): Movement | null {
    if (this.#moves === null) return null;
    const { count, first, last, longest } = this.#moves;
    return { at: last + this.#stillMs, every: count === 1 ? longest : (last - first) / (count - 1), longest };
  }

  /** @param still How long the run stood still until this move, ms. What takes as long once more, as evaluations do, is work. */
  #noteMove(mark: number, now: number, still: number): void {
    const before = this.#moves;
    if (before === null) {
      if (mark > 0) this.#moves = { count: 1, first: now, last: now, longest: now - this.#since, mark };
    } else if (before.mark !== mark) {
      const known = before.count === 1 ? 0 : before.longest;
      const longest = Math.max(known, now - before.last, still);
      this.#moves = { count: before.count + 1, first: before.first, last: now, longest, mark };
    }
  }
}

/**
 * A run stands still when it has not moved for this long, in ms, as a multiple of its usual pause, and as a multiple of its longest
 * one.
 */
const STILL_MS = 10_000;
const USUAL_PAUSES = 10;
const LONGEST_PAUSES = 3;

/** Whether a run has not moved for much longer than usual, so that its end is unknown. */
export function standsStill({ at, every, longest }: Movement, now: number): boolean {
  return now - at > Math.max(STILL_MS, USUAL_PAUSES * every, LONGEST_PAUSES * longest);
}
