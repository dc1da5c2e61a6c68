import type { EarlyTerminate } from '../../planned-run.js';
import { addPassed, bestShare, type Judge, SortedValues, type Verdict } from './verdict.js';

type AshaRule = Extract<EarlyTerminate, { type: 'asha' }>;

/** More iterations than any run has. */
const end = 2 ** 50;

/**
 * Asynchronous successive halving in its form that stops runs. A run is judged once at each rung, when it reaches it, against the
 * runs that reached it before: it continues if it is among the best 1/eta of them and itself, and always if it is the best.
 */
export class Asha implements Judge {
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
