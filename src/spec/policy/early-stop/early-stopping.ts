import { assertNever } from '../../../base/assert-never.js';
import type { EarlyTerminate, Objective } from '../../planned-run.js';
import { addPassed, bestShare, type Judge, SortedValues, type Verdict } from './verdict.js';

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

type AshaRule = Extract<EarlyTerminate, { type: 'asha' }>;

/** More iterations than any run has. */
const end = 2 ** 50;

/**
 * Asynchronous successive halving in its form that stops runs. A run is judged once at each rung, when it reaches it, against the
 * runs that reached it before: it continues if it is among the best 1/eta of them and itself, and always if it is the best.
 */
class Asha implements Judge {
  readonly #rungs: readonly number[];
  readonly #eta: number;
  /** The values of all runs at each rung. */
  readonly #values: SortedValues[] = [];
  /** The values of each run at the rungs it has reached. */
  readonly #past = new Map<string, number[]>();

  constructor(rule: AshaRule) {
    this.#rungs = ashaRungs(rule);
    this.#eta = rule.eta;
  }

  note(run: string, iteration: number, value: number): Verdict | null {
    const past = this.#past.get(run) ?? [];
    if (iteration !== this.#rungs[past.length]) return null;
    (this.#values[past.length] ??= new SortedValues()).add(value);
    this.#past.set(run, past);
    past.push(value);
    return this.#judged(past.length - 1, value);
  }

  passed(run: string): readonly number[] {
    return this.#past.get(run) ?? [];
  }

  recall(run: string, passed: readonly number[]): void {
    addPassed(this.#values, passed);
    this.#past.set(run, [...passed]);
  }

  judgeMissed(run: string, judged: number): Verdict | null {
    const past = this.#past.get(run) ?? [];
    for (let rung = judged; rung < past.length; rung++) {
      const verdict = this.#judged(rung, past[rung]!);
      if (verdict !== null) return verdict;
    }
    return null;
  }

  #judged(rung: number, value: number): Verdict | null {
    const values = this.#values[rung]!;
    const places = Math.max(1, Math.floor(values.count / this.#eta));
    if (values.below(value) < places) return null;
    return {
      iteration: this.#rungs[rung]!,
      value,
      bar: values.at(places - 1),
      barIs: bestShare(this.#eta, values.count),
    };
  }

  forget(run: string): void {
    this.#past.get(run)?.forEach((value, rung) => this.#values[rung]!.remove(value));
    this.#past.delete(run);
  }
}

/** Iterations at which runs are judged: `min_iter · eta^k`, rounded down, to `max_iter`. Ascending. */
function ashaRungs({ min_iter, max_iter = end, eta }: AshaRule): number[] {
  const rungs: number[] = [];
  for (let rung = min_iter; rung <= max_iter; rung *= eta) {
    const whole = Math.floor(rung);
    if (whole !== rungs.at(-1)) rungs.push(whole);
  }
  return rungs;
}

type MedianRule = Extract<EarlyTerminate, { type: 'median' }>;

type MedianPast = { best: number; sum: number; next: number; averages: number[] };

/**
 * The median rule of Google's Vizier: a run ends when its best value so far is worse than the median of its siblings' running
 * averages up to the same iteration. It is judged at `min_iter` and then each time it has come a tenth further, so that the kept
 * values grow with the logarithm of its length.
 */
class Median implements Judge {
  readonly #rule: MedianRule;
  /** Running averages of all runs at each checkpoint. */
  readonly #averages: SortedValues[] = [];
  readonly #past = new Map<string, MedianPast>();

  constructor(rule: MedianRule) {
    this.#rule = rule;
  }

  note(run: string, iteration: number, value: number): Verdict | null {
    const past = this.#past.get(run) ?? { best: Infinity, sum: 0, next: this.#rule.min_iter, averages: [] };
    this.#past.set(run, past);
    past.best = Math.min(past.best, value);
    past.sum += value;
    if (iteration !== past.next) return null;
    const siblings = (this.#averages[past.averages.length] ??= new SortedValues());
    const verdict = this.#judged(siblings, past, iteration);
    const average = past.sum / iteration;
    siblings.add(average);
    past.averages.push(average);
    past.next = nextCheckpoint(iteration);
    return verdict;
  }

  passed(run: string): readonly number[] {
    return this.#past.get(run)?.averages ?? [];
  }

  recall(run: string, passed: readonly number[]): void {
    addPassed(this.#averages, passed);
    this.#past.set(run, { best: Infinity, sum: 0, next: Infinity, averages: [...passed] });
  }

  /** Judges a run at the last checkpoint that it passed, as its best value so far counts. */
  judgeMissed(run: string, judged: number): Verdict | null {
    const past = this.#past.get(run);
    const last = (past?.averages.length ?? 0) - 1;
    if (past === undefined || last < judged) return null;
    const siblings = this.#averages[last]!;
    const own = past.averages[last]!;
    siblings.remove(own);
    const verdict = this.#judged(siblings, past, this.#checkpoint(last));
    siblings.add(own);
    return verdict;
  }

  #checkpoint(index: number): number {
    let iteration = this.#rule.min_iter;
    for (let passed = 0; passed < index; passed++) iteration = nextCheckpoint(iteration);
    return iteration;
  }

  #judged(siblings: SortedValues, past: MedianPast, iteration: number): Verdict | null {
    const { count } = siblings;
    const bar = siblings.median();
    if (count < this.#rule.min_runs || !(past.best > bar)) return null;
    const barIs = `the median of what ${count} sibling${count === 1 ? '' : 's'} averaged`;
    return { iteration, value: past.best, bar, barIs };
  }

  forget(run: string): void {
    this.#past.get(run)?.averages.forEach((average, index) => this.#averages[index]!.remove(average));
    this.#past.delete(run);
  }
}

/** The iteration after this one at which a run is judged again. */
function nextCheckpoint(iteration: number): number {
  return Math.max(iteration + 1, Math.ceil((iteration * 11) / 10));
}

type HyperbandRule = Extract<EarlyTerminate, { type: 'hyperband' }>;

/** The relevant values of a run: its best one, and those at the bands it has reached, in order. */
type BandPast = { best: number; atBands: number[] };

/**
 * Hyperband as W&B's server runs it. The threshold of a band is the value with n/eta better ones, among those of all n runs (also
 * ended ones) that reached it. After every value a run is compared at the largest band it has reached, so siblings that reach it
 * later can end the run too. `strict`: the run's value at the band counts, else its best value.
 */
class Hyperband implements Judge {
  readonly #bands: readonly number[];
  readonly #eta: number;
  readonly #strict: boolean;
  /** The values of all runs at each band. */
  readonly #values: SortedValues[] = [];
  readonly #past = new Map<string, BandPast>();

  constructor(rule: HyperbandRule) {
    this.#bands = hyperbandBands(rule);
    this.#eta = rule.eta;
    this.#strict = rule.strict;
  }

  note(run: string, iteration: number, value: number): Verdict | null {
    const past = this.#past.get(run) ?? { best: Infinity, atBands: [] };
    this.#past.set(run, past);
    past.best = Math.min(past.best, value);
    if (iteration === this.#bands[past.atBands.length]) {
      (this.#values[past.atBands.length] ??= new SortedValues()).add(value);
      past.atBands.push(value);
    }
    return past.atBands.length === 0 ? null : this.#judged(past, iteration);
  }

  passed(run: string): readonly number[] {
    return this.#past.get(run)?.atBands ?? [];
  }

  recall(run: string, passed: readonly number[]): void {
    addPassed(this.#values, passed);
    this.#past.set(run, { best: Infinity, atBands: [...passed] });
  }

  judgeMissed(run: string, judged: number): Verdict | null {
    const past = this.#past.get(run);
    if (past === undefined || past.atBands.length <= judged) return null;
    return this.#judged(past, this.#bands[past.atBands.length - 1]!);
  }

  forget(run: string): void {
    this.#past.get(run)?.atBands.forEach((value, band) => this.#values[band]!.remove(value));
    this.#past.delete(run);
  }

  #judged({ best, atBands }: BandPast, iteration: number): Verdict | null {
    const largest = atBands.length - 1;
    const values = this.#values[largest]!;
    // W&B multiplies by the reciprocal, which differs from a division for some numbers of runs.
    const bar = values.at(Math.floor((1 / this.#eta) * values.count));
    const value = this.#strict ? atBands[largest]! : best;
    if (!(value > bar)) return null;
    const at = this.#strict ? this.#bands[largest]! : iteration;
    return { iteration: at, value, bar, barIs: bestShare(this.#eta, values.count) };
  }
}

/** Iterations at which runs are compared, ascending. Empty when `max_iter` is below `eta`: then no run is ever judged. */
export function hyperbandBands({ min_iter, max_iter, s = 0, eta }: HyperbandRule): number[] {
  const bands: number[] = [];
  if (max_iter !== undefined) {
    for (let k = 0, band = max_iter / eta; k < s && band >= 1; k += 1, band /= eta) bands.unshift(Math.trunc(band));
  } else if (min_iter !== undefined) {
    for (let k = 0, band = min_iter; k < 100; k += 1, band *= eta) bands.push(Math.trunc(band));
  }
  return [...new Set(bands)];
}
