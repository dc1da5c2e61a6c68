import type { EarlyTerminate } from '../../planned-run.js';
import { addPassed, type Judge, SortedValues, type Verdict } from './verdict.js';

type MedianRule = Extract<EarlyTerminate, { type: 'median' }>;

type Past = { best: number; sum: number; next: number; averages: number[] };

/**
 * The median rule of Google's Vizier: a run ends when its best value so far is worse than the median of its siblings' running
 * averages up to the same iteration. It is judged at `min_iter` and then each time it has come a tenth further, so that the kept
 * values grow with the logarithm of its length.
 */
export class Median implements Judge {
  readonly #rule: MedianRule;
  /** Running averages of all runs at each checkpoint. */
  readonly #averages: SortedValues[] = [];
  readonly #past = new Map<string, Past>();

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

  #judged(siblings: SortedValues, past: Past, iteration: number): Verdict | null {
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
