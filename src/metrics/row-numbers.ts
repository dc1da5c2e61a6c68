import type { WrittenRow } from './formats/format.js';

/** The numbers of one row. A written `null` is NaN here. */
export type MetricRow = Record<string, number>;

/** Limit on the number of keys, as a program may invent new ones in every row; no chart shows so many. */
export const MOST_KEYS = 2000;
/** Objects that are nested more deeply are ignored. */
const DEEPEST = 8;

/**
 * Extracts the numbers of metrics rows, by key id. One instance reads all rows of a source and gives each key its id.
 *
 * `null` becomes NaN, true and false become 1 and 0; a value inside an object has a dotted key (`eval.loss`); texts and lists are
 * left out. Rows are objects from `JSON.parse`, which is faster than any parser written in JavaScript (measured: 1.5 times as fast
 * as one that read numbers directly from the bytes).
 */
export class RowNumbers {
  /** Every key that held a number, by id. */
  readonly keys: string[] = [];
  /** The numbers of the row read last: key ids and values, of which the first `count` are valid. */
  ids = new Int32Array(16);
  values = new Float64Array(16);
  count = 0;
  /** Number of values that have no id, as there are too many keys. */
  unnamed = 0;
  readonly #idOf = new Map<string, number>();
  /** Programs repeat their keys in the same order: the id at the same place of the previous row is tried first. */
  readonly #idAt: number[] = [];
  #place = 0;
  /** Whether some row had a key of times: in others, a search for five keys that are missing costs a tenth of the time. */
  #hasTimes = false;

  read(row: WrittenRow): void {
    this.count = 0;
    this.#place = 0;
    this.#readObject(row, '', 0);
  }

  /** When the row read last was written, Unix ms; NaN: it does not say. */
  timeIn(row: WrittenRow): number {
    return this.#hasTimes ? (timeOf(row) ?? NaN) : NaN;
  }

  /** The numbers read last, by name. */
  row(): MetricRow {
    const row: MetricRow = {};
    for (let index = 0; index < this.count; index++) row[this.keys[this.ids[index]!]!] = this.values[index]!;
    return row;
  }

  /** The id of a key; undefined: it never had a number. */
  idOf(key: string): number | undefined {
    return this.#idOf.get(key);
  }

  /** The id of a key that has a number, which it gets if it has none; negative when there are too many keys. */
  take(key: string): number {
    const known = this.#idOf.get(key);
    if (known !== undefined) return known;
    this.#hasTimes ||= timeKeys.has(key);
    if (this.keys.length >= MOST_KEYS) {
      this.unnamed += 1;
      return -1;
    }
    this.#idOf.set(key, this.keys.length);
    return this.keys.push(key) - 1;
  }

  #readObject(row: WrittenRow, prefix: string, depth: number): void {
    for (const key in row) {
      const value = row[key];
      const name = prefix === '' ? key : prefix + key;
      const at = this.#place++;
      if (typeof value === 'number') this.#put(at, name, value);
      else if (value === null) this.#put(at, name, NaN);
      else if (typeof value === 'boolean') this.#put(at, name, Number(value));
      else if (typeof value === 'string') this.#hasTimes ||= timeKeys.has(name);
      else if (isNested(value) && depth < DEEPEST) this.#readObject(value, `${name}.`, depth + 1);
    }
  }

  #put(place: number, key: string, value: number): void {
    let id = this.#idAt[place];
    if (id === undefined || this.keys[id] !== key) {
      id = this.take(key);
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
}

function isNested(value: unknown): value is WrittenRow {
  return typeof value === 'object' && !Array.isArray(value);
}

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

/**
 * A counter of the training. `key`: its name in the row of a printed line. `is`: `steps` rise with each row, and a row of the same
 * step adds to the row before; `coarse` counters stay the same for several rows; `within` begins again in each epoch; `time` is how
 * long the run has taken.
 */
type Counter = { readonly key: string; readonly is: 'steps' | 'coarse' | 'within' | 'time' };

/** The names of each counter, without case and separators. A row with several is ordered by the first of them. */
const table: readonly (Counter & { readonly names: string })[] = [
  { key: 'global_step', is: 'steps', names: 'globalstep globalsteps globaliter globaliteration' },
  { key: 'step', is: 'steps', names: 'step' },
  {
    key: 'step',
    is: 'steps',
    names:
      'iteration iterations iter iters it itr niter curriter update updates up numupdates nupdates generation gen currentstep ' +
      'currentsteps trainstep trainsteps trainingstep trainingsteps trainingiteration trainiter optimizerstep optstep optimstep ' +
      'gradientstep gradientsteps gradstep gradsteps learnerstep stepidx round tick kimg',
  },
  { key: 'epoch', is: 'coarse', names: 'epoch epochs ep currentepoch epochnum epochidx nepoch epochnumber' },
  { key: 'episode', is: 'coarse', names: 'episode iepisode episodenum episodeidx' },
  { key: 'trial', is: 'coarse', names: 'trial' },
  {
    key: 'step',
    is: 'coarse',
    names:
      'timestep timesteps totaltimesteps numtimesteps timestepstotal tenv policystep envstep envsteps totalenvsteps numenvsteps envinteracts ' +
      'totalenvinteracts numenvstepssampled numenvstepssampledlifetime agentsteps totalsteps steps numsteps nsteps frame frames ' +
      'numframes totalframes totalnumframes envframes samplesseen numsamplesseen consumedsamples consumedtrainsamples numtokens ' +
      'tokensseen numtokensseen numinputtokensseen consumedtokens totaltokens',
  },
  { key: 'episode', is: 'coarse', names: 'episodes numepisodes totalepisodes episodestotal' },
  { key: 'batch', is: 'within', names: 'batch batches batchidx batchnum minibatch' },
  { key: 'time', is: 'time', names: 'time elapsed elapsedtime timeelapsed elapsedseconds elapseds' },
];

/** `rank`: the place of its name among all, from the first that orders rows. */
type Ranked = Counter & { readonly rank: number };

const byName: ReadonlyMap<string, Ranked> = new Map(
  table
    .flatMap(({ names, ...counter }) => names.split(' ').map((name) => ({ name, counter })))
    .map(({ name, counter }, rank) => [name, { ...counter, rank }]),
);

/** Groups of metrics in which programs put counters. In any other, a name says something else: `time/step` takes seconds. */
const groups =
  /^(?:train|trainer|training|charts|counters|info|global|system)[/.](?=[^/.]+$)|^time\/(?=total_timesteps$)/i;

/** Counters by name: programs use the same few names in all rows. */
const known = new Map<string, Ranked | null>();
const MOST_KNOWN = 8192;

/** The counter with this name, in any case and spelling (`Epoch`, `env_steps`, `trainer/global_step`); null: it is none. */
export function counterNamed(name: string): Ranked | null {
  const before = known.get(name);
  if (before !== undefined) return before;
  if (known.size >= MOST_KNOWN) known.clear();
  const counter = byName.get(
    name
      .replace(groups, '')
      .replaceAll(/[\s_.-]/g, '')
      .toLowerCase(),
  );
  // SB3 counts updates within a row of time steps.
  const found = counter === undefined || /^train\/n_updates$/.test(name) ? null : counter;
  known.set(name, found);
  return found;
}

/**
 * The key of a row that orders the rows of its source, and whether it counts steps. Null: the rows are only numbered.
 *
 * @param valueOf The value of a key; a counter, except one of epochs or time, is a whole number, unlike the loss `gen` of a GAN.
 */
export function stepKeyOf(
  keys: Iterable<string>,
  valueOf?: (key: string) => unknown,
): { key: string; counts: boolean; is: Counter['is'] } | null {
  let best: { key: string; counter: Ranked } | null = null;
  for (const key of keys) {
    const counter = counterNamed(key);
    if (counter === null || (best !== null && best.counter.rank <= counter.rank)) continue;
    if (valueOf === undefined || mayBe(counter, valueOf(key))) best = { key, counter };
  }
  return best && { key: best.key, counts: best.counter.is === 'steps', is: best.counter.is };
}

function mayBe({ is, key }: Counter, value: unknown): boolean {
  return (
    typeof value === 'number' && (is === 'time' || key === 'epoch' ? Number.isFinite(value) : Number.isInteger(value))
  );
}

/** Keys of the time at which a row was written, the surest first. */
const timeKeys: ReadonlySet<string> = new Set(['_timestamp', 'timestamp', 'wall_time', 'time', 'ts']);

/** Whether a key tells the time, which goes on also in rows that come late. */
export function isClock(key: string): boolean {
  return timeKeys.has(key) || key === '_runtime';
}

/** Whether a metric is a counter or a time by its name, over which others are drawn. */
export function isAxis(name: string): boolean {
  return counterNamed(name) !== null || isClock(name);
}

/** When a row was written by its own fields, Unix ms; null: it has no time. A small number is not a date but a duration. */
export function timeOf(row: WrittenRow): number | null {
  for (const key of timeKeys) {
    const time = row[key];
    if (typeof time === 'number' && time > 1e9) return time > 1e11 ? time : time * 1000;
    if (typeof time === 'string' && !Number.isNaN(Date.parse(time))) return Date.parse(time);
  }
  return null;
}
