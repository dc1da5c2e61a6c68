import { assertNever } from '../../../base/assert-never.js';
import type { EarlyTerminate, Objective } from '../../planned-run.js';
import { Asha } from './asha.js';
import { Hyperband } from './hyperband.js';
import { Median } from './median.js';
import type { Judge, Verdict } from './verdict.js';

/** The progress of a run. `why`: why it should end; null: it should not. */
type Progress = { iterations: number; why: string | null };

/**
 * Decides which runs of one group should end early. It receives each run's values of the objective, oldest first; its decisions
 * depend on nothing else, so the same values in the same order always end the same runs.
 *
 * It keeps what the rule needs of each run: counts, and values at a number of iterations that grows with the logarithm of the run's
 * length.
 */
export class EarlyStopping {
  readonly #rule: EarlyTerminate;
  readonly #sign: 1 | -1;
  readonly #judge: Judge;
  readonly #runs = new Map<string, Progress>();

  constructor(rule: EarlyTerminate, objective: Objective) {
    this.#rule = rule;
    this.#sign = objective.goal === 'maximize' ? -1 : 1;
    this.#judge = judgeOf(rule);
  }

  /**
   * Takes the next value of a run's objective, which is its next iteration. A value that is not finite is ignored.
   *
   * @returns Why the run should end now, in words, or null. A run that should end stays so, and its later values are ignored.
   */
  note(run: string, value: number): string | null {
    const before = this.#runs.get(run)?.why ?? null;
    if (before !== null) return before;
    const verdict = this.#take(run, value);
    return verdict === null ? null : (this.#runs.get(run)!.why = this.#words(verdict));
  }

  /**
   * Takes a value without judging the run: for values of the past, by which it was judged then. Its siblings' values came at other
   * times, and all of them together would judge it more strictly than they did.
   */
  remember(run: string, value: number): void {
    this.#take(run, value);
  }

  /** The values of a run with which its siblings are compared: one for each of the rule's rungs that it has passed. */
  passed(run: string): readonly number[] {
    return this.#judge.passed(run);
  }

  /** Takes what `passed` gave of a run that has ended, in place of its values. */
  recall(run: string, passed: readonly number[]): void {
    this.forget(run);
    this.#judge.recall(run, passed);
  }

  /** Judges a run at the rungs that it passed without being judged: those beyond the first `judged`. */
  judgeMissed(run: string, judged: number): string | null {
    const verdict = this.#judge.judgeMissed(run, judged);
    return verdict === null ? null : this.#words(verdict);
  }

  /** Number of finite values of a run so far. */
  iterations(run: string): number {
    return this.#runs.get(run)?.iterations ?? 0;
  }

  /** Forgets all values of a run that starts over. */
  forget(run: string): void {
    this.#runs.delete(run);
    this.#judge.forget(run);
  }

  #take(run: string, value: number): Verdict | null {
    if (!Number.isFinite(value)) return null;
    const progress = this.#runs.get(run) ?? { iterations: 0, why: null };
    this.#runs.set(run, progress);
    progress.iterations += 1;
    return this.#judge.note(run, progress.iterations, this.#sign * value);
  }

  #words({ iteration, value, bar, barIs }: Verdict): string {
    const side = this.#sign === 1 ? 'above' : 'below';
    const [own, other] = distinct(this.#sign * value, this.#sign * bar);
    return `${this.#rule.type}: ${own} at iteration ${iteration} is ${side} ${other}, ${barIs}`;
  }
}

function judgeOf(rule: EarlyTerminate): Judge {
  switch (rule.type) {
    case 'hyperband':
      return new Hyperband(rule);
    case 'asha':
      return new Asha(rule);
    case 'median':
      return new Median(rule);
    default:
      return assertNever(rule);
  }
}

/** Two different numbers, rounded to as few digits as show the difference, at least three. */
function distinct(left: number, right: number): [string, string] {
  for (let digits = 3; digits < 17; digits += 1) {
    const texts = [left, right].map((value) => shortText(value, digits)) as [string, string];
    if (texts[0] !== texts[1]) return texts;
  }
  return [String(left), String(right)];
}

/** A number in a message: `0.4`, `123000`, `2.72e11`. */
function shortText(value: number, digits: number): string {
  const rounded = Number(value.toPrecision(digits));
  const size = Math.abs(rounded);
  return size < 1e6 && (size >= 1e-4 || size === 0) ? String(rounded) : rounded.toExponential().replace('e+', 'e');
}
