import type { WrittenRow } from './formats/format.js';

/** The numbers of one row. What was written as `null` is NaN here. */
export type MetricRow = Record<string, number>;

/** A foreign file may invent a key a row; no chart shows so many. */
const MOST_KEYS = 2000;
/** Objects within objects beyond this are no metrics. */
const DEEPEST = 8;

/**
 * The numbers of a metrics row, by key id. One instance reads all rows of a source and gives each key its id.
 *
 * `null` gives NaN, true and false 1 and 0; what is inside an object has a dotted key (`eval.loss`); texts and lists are left
 * out. Rows come as objects: `JSON.parse` is faster than any parser written in JavaScript (measured: 1.5 times one that read
 * numbers straight from the bytes).
 */
export class RowNumbers {
  /** Every key that held a number, by id. */
  readonly keys: string[] = [];
  /** The numbers of the row read last, `count` of them: key ids and values. */
  ids = new Int32Array(16);
  values = new Float64Array(16);
  count = 0;
  readonly #idOf = new Map<string, number>();
  /** Writers repeat their keys in the same order: the id of the same place of the row before is tried first. */
  readonly #idAt: number[] = [];
  #place = 0;

  read(row: WrittenRow): void {
    this.count = 0;
    this.#place = 0;
    this.#readObject(row, '', 0);
  }

  /** The numbers read last, by name. */
  row(): MetricRow {
    const { ids, values, count, keys } = this;
    return Object.fromEntries(
      Array.from({ length: count }, (_, index) => [keys[ids[index]!]!, values[index]!] as const),
    );
  }

  /** Id of a key; undefined: it never held a number. */
  idOf(key: string): number | undefined {
    return this.#idOf.get(key);
  }

  #readObject(row: WrittenRow, prefix: string, depth: number): void {
    for (const key in row) {
      const value = row[key];
      const name = prefix === '' ? key : prefix + key;
      const at = this.#place++;
      if (typeof value === 'number') this.#put(at, name, value);
      else if (value === null) this.#put(at, name, NaN);
      else if (typeof value === 'boolean') this.#put(at, name, Number(value));
      else if (typeof value === 'object' && !Array.isArray(value) && depth < DEEPEST)
        this.#readObject(value as WrittenRow, `${name}.`, depth + 1);
    }
  }

  #put(place: number, key: string, value: number): void {
    let id = this.#idAt[place];
    if (id === undefined || this.keys[id] !== key) {
      id = this.#id(key);
      if (place < MOST_KEYS) this.#idAt[place] = id;
    }
    if (id < 0 || this.count >= MOST_KEYS) return;
    if (this.count === this.ids.length) this.#grow();
    this.ids[this.count] = id;
    this.values[this.count++] = value;
  }

  #grow(): void {
    const [ids, values] = [this.ids, this.values];
    this.ids = new Int32Array(2 * ids.length);
    this.ids.set(ids);
    this.values = new Float64Array(2 * values.length);
    this.values.set(values);
  }

  /** Negative when there are too many keys already. */
  #id(key: string): number {
    const known = this.#idOf.get(key);
    if (known !== undefined) return known;
    if (this.keys.length >= MOST_KEYS) return -1;
    this.#idOf.set(key, this.keys.length);
    return this.keys.push(key) - 1;
  }
}

/** Names writers use for a counter of training steps, best first. A row with a smaller step is a resume. */
const counters = ['step', 'global_step', '_step', 'train/global_step', 'trainer/global_step', 'iteration', 'iter'];
/** Names that make an x axis, but may repeat or begin again without a row being replaced. */
const axes = [
  'epoch',
  'episode',
  'trial',
  'timestep',
  'timesteps',
  'total_timesteps',
  'time/total_timesteps',
  'num_tokens',
  'time',
];

/** The key of a row that orders the rows of its file, and whether it counts steps. Null: only their number does. */
export function stepKeyOf(keys: readonly string[]): { key: string; counts: boolean } | null {
  const key = [...counters, ...axes].find((name) => keys.includes(name));
  return key === undefined ? null : { key, counts: counters.includes(key) };
}
