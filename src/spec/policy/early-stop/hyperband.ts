import type { EarlyTerminate } from '../../planned-run.js';
import { addPassed, bestShare, type Judge, SortedValues, type Verdict } from './verdict.js';

type HyperbandRule = Extract<EarlyTerminate, { type: 'hyperband' }>;

/** The relevant values of a run: its best one, and those at the bands it has reached, in order. */
type Past = { best: number; atBands: number[] };

/**
 * Hyperband as W&B's server runs it. The threshold of a band is the value with n/eta better ones, among those of all n runs (also
 * ended ones) that reached it. After every value a run is compared at the largest band it has reached, so siblings that reach it
 * later can end the run too. `strict`: the run's value at the band counts, else its best value.
 */
export class Hyperband implements Judge {
  readonly #bands: readonly number[];
  readonly #eta: number;
  readonly #strict: boolean;
  /** The values of all runs at each band. */
  readonly #values: SortedValues[] = [];
  readonly #past = new Map<string, Past>();

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

  #judged({ best, atBands }: Past, iteration: number): Verdict | null {
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
