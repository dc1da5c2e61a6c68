import { type Counter, counterNamed, stepKeyOf } from './counters.js';
import type { RowNumbers } from './row-numbers.js';

/**
 * Finds the x of each row of a source: the value of its best counter. A row without that belongs to the row before it; rows without
 * any counter are numbered. A counter that stays the same while another one moves does not order rows.
 */
export class RowPlace {
  /** Key id of the counter; -1: rows are numbered. */
  id = -1;
  /** The x of the last row, and whether further rows may have the same. */
  x = 0;
  isCoarse = false;
  /** Whether the last row has the counter. */
  isCounted = false;
  #is: Counter['is'] = 'steps';
  #keysSeen = 0;
  #epochId = -1;
  #hasMoved = false;
  readonly #stuck = new Set<string>();
  /** The values of the counters of the row before, while the counter has not moved. */
  #before: ReadonlyMap<number, number> = new Map();
  #steps = new EpochSteps();

  /**
   * The x of the row read last, which is the one with this number.
   *
   * @param changed Called with the x that all rows so far have by another counter, and the id of the former one.
   */
  of(numbers: RowNumbers, row: number, changed: (x: number, former: number) => void): number {
    const [former, was] = [this.id, this.#is];
    if (numbers.keys.length > this.#keysSeen) this.#look(numbers);
    this.isCounted = true;
    this.isCoarse = false;
    this.x = this.id < 0 ? row : this.#xOf(numbers, changed);
    if (this.id !== former && row > 0 && (former < 0 || was !== 'steps')) changed(this.x, former);
    return this.x;
  }

  #xOf(numbers: RowNumbers, changed: (x: number, former: number) => void): number {
    const own = this.#valueIn(numbers);
    this.isCounted = !Number.isNaN(own);
    this.isCoarse = !this.isCounted || this.#is === 'coarse' || this.#is === 'time';
    if (!this.isCounted) return this.x;
    if (!this.#hasMoved && this.#isStuck(numbers, own, changed)) return this.#xOf(numbers, changed);
    return this.isCoarse ? own : this.#counted(numbers, own);
  }

  /** The counter of a row, or else another one of steps; NaN: it has none. */
  #valueIn(numbers: RowNumbers): number {
    const own = valueIn(numbers, this.id);
    if (!Number.isNaN(own) || this.#is !== 'steps') return own;
    for (const [id, value] of countersIn(numbers)) {
      const { is } = counterNamed(numbers.keys[id]!)!;
      if (is === 'steps' && Number.isInteger(value) && !this.#stuck.has(numbers.keys[id]!)) return value;
    }
    return NaN;
  }

  #counted(numbers: RowNumbers, step: number): number {
    const epoch = this.#epochId < 0 ? NaN : valueIn(numbers, this.#epochId);
    return this.#is === 'within' || !Number.isNaN(epoch) ? this.#steps.of(step, epoch) : step;
  }

  /** Looks for a better counter among the keys of a row with new ones. */
  #look({ keys, ids, values, count }: RowNumbers): void {
    this.#keysSeen = keys.length;
    const row = new Map<string, number>();
    for (let index = 0; index < count; index++) row.set(keys[ids[index]!]!, values[index]!);
    for (const key of this.#stuck) row.delete(key);
    const own = keys[this.id];
    if (own !== undefined && !row.has(own)) row.set(own, 0);
    const best = stepKeyOf(row.keys(), (key) => row.get(key));
    if (best === null) return;
    this.id = keys.indexOf(best.key);
    this.#is = best.is;
    this.#epochId = keys.findIndex((key) => counterNamed(key)?.key === 'epoch');
  }

  /** Whether another counter has moved since the row before, and this one has not; the other one takes its place. */
  #isStuck(numbers: RowNumbers, own: number, changed: (x: number, former: number) => void): boolean {
    const was = this.#before.get(this.id);
    this.#hasMoved = was !== undefined && own !== was;
    if (own !== was) {
      this.#before = countersIn(numbers);
      return false;
    }
    for (const [id, value] of countersIn(numbers)) {
      const before = this.#before.get(id);
      if (id === this.id || before === undefined || value <= before) continue;
      this.#stuck.add(numbers.keys[this.id]!);
      this.id = -1;
      this.#look(numbers);
      changed(this.#before.get(this.id) ?? before, this.id);
      return true;
    }
    return false;
  }
}

/** Number of epochs whose first steps are remembered. */
const MOST_EPOCHS = 4096;

type Epoch = { readonly number: number; readonly offset: number; top: number };

/**
 * Counts steps on that begin again in each epoch: where the step falls as the epoch rises, the new epoch's first step comes after
 * the last one of the epoch before, as far from it as steps are apart. Steps that do not fall are counted as they are.
 */
class EpochSteps {
  readonly #epochs = new Map<number, Epoch>();
  #now: Epoch = { number: -Infinity, offset: 0, top: -Infinity };
  #last = NaN;
  #stride = 1;
  #isWithin = false;

  /** The step counted over all epochs. @param epoch NaN: unknown; then a step that falls begins another one. */
  of(step: number, epoch: number): number {
    if (step > this.#last) this.#stride = step - this.#last;
    const isOther = Number.isNaN(epoch) ? step < this.#last : epoch !== this.#now.number;
    if (isOther) this.#enter(Number.isNaN(epoch) ? Math.max(this.#now.number, -1) + 1 : epoch, step);
    this.#last = step;
    this.#now.top = Math.max(this.#now.top, step);
    return this.#now.offset + step;
  }

  #enter(number: number, step: number): void {
    const { number: before, offset, top } = this.#now;
    const isNext = number > before;
    const begins = isNext && step < top;
    this.#isWithin ||= begins;
    const known = this.#epochs.get(number);
    const next = begins ? offset + top + this.#stride - step : isNext ? offset : 0;
    this.#now = known ?? { number, offset: next, top: step };
    if (!this.#isWithin) return;
    this.#epochs.set(number, this.#now);
    if (this.#epochs.size > MOST_EPOCHS) this.#epochs.delete(this.#epochs.keys().next().value!);
  }
}

function valueIn({ ids, values, count }: RowNumbers, id: number): number {
  for (let index = 0; index < count; index++) if (ids[index] === id) return values[index]!;
  return NaN;
}

/** The counters of a row, but those of time, by key id. */
function countersIn({ ids, values, count, keys }: RowNumbers): Map<number, number> {
  const found = new Map<number, number>();
  for (let index = 0; index < count; index++) {
    const counter = counterNamed(keys[ids[index]!]!);
    if (counter !== null && counter.is !== 'time') found.set(ids[index]!, values[index]!);
  }
  return found;
}
