import { presentValue } from '../base/present-value.js';
import { type Bounds, Curve, type Resume, type Taking } from './curve.js';
import { type Clock, clockOfFile, inSeconds, interpolated, type Line, lowerBound, noLine, wallTime } from './line.js';
import type { MetricFormat, PointTaker, WrittenRow } from './formats/format.js';
import { counterNamed, isClock, type MetricRow, MOST_KEYS, RowNumbers, RowPlace } from './row-numbers.js';

/**
 * One file of a source: its curves by key id, when its first and its last point were written (Unix ms), and the x from which on it
 * ends all earlier files.
 */
type FilePart = { readonly curves: (Curve | undefined)[]; from: number; to: number; purge: number };

type Points = { readonly x: Float64Array; readonly y: Float64Array; readonly times: Float64Array | null };

const none: Points = { x: new Float64Array(0), y: new Float64Array(0), times: null };

/**
 * The points of one metric in all files of a source. A file that was begun when an earlier one had ended is a later attempt, and
 * counts from its first point of the metric on, or from where it says. Files written at the same time are those of several
 * processes: all points count, and of two at one x that of the later file.
 */
function joined(parts: readonly FilePart[], id: number): Points {
  const written = parts.filter((part) => part !== undefined);
  const shown = written.flatMap((part, place) => {
    const curve = part.curves[id];
    const points = curve === undefined ? none : pointsOf(curve, endOf(part, written.slice(place + 1), id));
    return points.x.length === 0 ? [] : [points];
  });
  if (shown.length <= 1) return shown[0] ?? none;
  const x = concatenated(shown, (points) => points.x);
  const isRising = x.every((value, index) => index === 0 || value > x[index - 1]!);
  const all = { x, y: concatenated(shown, ({ y }) => y), times: concatenated(shown, timesOf) };
  return isRising ? all : sorted(all);
}

/** The x from which on a file no longer counts. */
function endOf({ to }: FilePart, later: readonly FilePart[], id: number): number {
  return later.reduce((end, part) => {
    const isLater = !(part.from < to);
    const first = isLater ? (part.curves[id]?.points.x[0] ?? Infinity) : Infinity;
    return Math.min(end, part.purge, (part.curves[id]?.count ?? 0) > 0 ? first : Infinity);
  }, Infinity);
}

function pointsOf({ points: { x, values, times, length } }: Curve, before: number): Points {
  const end = before === Infinity ? length : lowerBound(x, length, before);
  return { x: x.subarray(0, end), y: values.subarray(0, end), times: times?.subarray(0, end) ?? null };
}

function timesOf({ x, times }: Points): Float64Array {
  return times ?? new Float64Array(x.length).fill(NaN);
}

function concatenated(all: readonly Points[], laneOf: (points: Points) => Float64Array): Float64Array {
  const lanes = all.map(laneOf);
  const whole = new Float64Array(lanes.reduce((length, lane) => length + lane.length, 0));
  let at = 0;
  for (const lane of lanes) {
    whole.set(lane, at);
    at += lane.length;
  }
  return whole;
}

/** The points in the order of their x, the last of each. */
function sorted({ x, y, times }: Points): Points {
  const order = Array.from(x.keys()).sort((one, other) => x[one]! - x[other]! || one - other);
  const kept = order.filter((index, place) => x[order[place + 1]!] !== x[index]);
  const picked = (lane: Float64Array) => Float64Array.from(kept, (index) => lane[index]!);
  return { x: picked(x), y: picked(y), times: times && picked(times) };
}

const STEP = 'step';

/**
 * The rows of one source, as a curve for each key, in bounded memory.
 *
 * `rows`: the x of a row is that of its counter, see `RowPlace`; where the metrics that lead were written again, others written with
 * them end there, too. `points`: each metric has steps of its own, as in TensorBoard, under `step`, and each file is a part. What
 * becomes of late, repeated and resumed rows: `Curve`; of parts: `joined`.
 */
export class MetricTable {
  readonly #bounds: Bounds;
  readonly #hasRows: boolean;
  readonly #numbers = new RowNumbers();
  readonly #place = new RowPlace();
  /** Curves by key id, of each part. */
  readonly #parts: FilePart[] = [];
  readonly #taking: Taking = { row: 0, attempt: 0, isCoarse: false, replaced: 0, doubled: 0 };
  /** The greatest x of the source's own counter. */
  #front = -Infinity;
  /** Key id of the metric that was written first. */
  #leader = -1;
  #hasOwnTimes = false;
  /** When some x was reached, Unix ms, in turn: as far as it is known from the times of the file. */
  #stamps: { x: number; time: number }[] = [];
  readonly #lines = new Map<string, Line>();
  readonly #moveTo = (x: number, former: number): void => this.#gather(x, former);

  constructor(bounds: Bounds, filing: MetricFormat['filing'] = 'rows') {
    this.#bounds = bounds;
    this.#hasRows = filing === 'rows';
  }

  /** Number of rows, without those of replaced steps. */
  get rows(): number {
    const counts = this.#numbers.keys.map((_, id) => sum(this.#curvesOf(id), ({ count }) => count));
    return counts.reduce((most, count) => Math.max(most, count), 0);
  }

  /** Memory of the series, bytes. */
  get bytes(): number {
    return this.#parts.reduce((all, { curves }) => all + sum(curves, (curve) => curve?.points.bytes ?? 0), 0);
  }

  /** Whether the rows have a key of steps, and are not only numbered. */
  get hasSteps(): boolean {
    return this.#hasRows ? this.#place.id >= 0 : this.#leader >= 0;
  }

  /** Written values that do not count. */
  get leftOut(): LeftOut {
    const { replaced, doubled } = this.#taking;
    const curves = this.#parts.flatMap((part) => part.curves.filter((curve) => curve !== undefined));
    const thinned = sum(curves, ({ count, points }) => Math.max(0, count - points.length));
    return { replaced, doubled, thinned, unnamed: this.#numbers.unnamed };
  }

  /** When the first row was written, Unix ms; null: unknown. */
  get firstTime(): number | null {
    const own = this.#parts.flatMap(({ from }) => (Number.isFinite(from) ? [from] : []));
    const times = own.length > 0 ? own : this.#stamps.slice(0, 1).map(({ time }) => time);
    return times.length === 0 ? null : times.reduce((first, time) => Math.min(first, time));
  }

  get clock(): Clock {
    if (this.#hasOwnTimes) return 'values';
    return this.#stamps.length === 0 ? null : clockOfFile(this.#stamps[0]!.time, this.#stamps.at(-1)!.time);
  }

  /** Adds a row; returns false if it contains no number. `time`, `part`: as in `RowSink.row`; without a time, that in the row. */
  take(row: WrittenRow, time = NaN, part = 0): boolean {
    this.#numbers.read(row);
    if (this.#numbers.count === 0) return false;
    const at = Number.isNaN(time) ? this.#numbers.timeIn(row) : time;
    return this.#hasRows ? this.#takeRow(at, part) : this.#takePoints(row, at, part);
  }

  /** Adds single points of a part. */
  points(part: number): PointTaker {
    return (key, value, step, time) => {
      const id = key === STEP ? -1 : this.#numbers.take(key);
      if (id < 0) return;
      this.#taking.row += 1;
      this.#takePoint(this.#part(part, time), id, { value, step, time });
      this.#changed(time);
    };
  }

  /** As in `RowSink`. */
  attempt(): void {
    this.#taking.attempt = this.#taking.row;
  }

  purge(from: number, part = 0): void {
    this.#part(part, NaN).purge = Math.min(from, this.#parts[part]!.purge);
    for (const curve of this.#parts[part]!.curves) curve?.end(from, this.#taking);
    this.#lines.clear();
  }

  /** Sets when rows of unknown time were written: the first at `from`, the last at `to`, Unix ms; others in between. */
  stamp(from: number, to: number): void {
    const x = this.#hasRows ? this.#place.x : (this.#topOf(this.#leader) ?? NaN);
    if (Number.isNaN(x) || this.#parts.length === 0) return;
    while (this.#stamps.length > 0 && this.#stamps.at(-1)!.x >= x) this.#stamps.pop();
    if (this.#stamps.length === 0) this.#stamps.push({ x: this.#firstX(), time: from });
    if (this.#stamps.at(-1)!.x < x) this.#stamps.push({ x, time: to });
    if (this.#stamps.length > 2 * this.#bounds.exact) this.#stamps = this.#stamps.filter((_, at) => at % 2 === 0);
    this.#lines.clear();
  }

  /** Whether the key had a number or null in some row. */
  has(key: string): boolean {
    const id = this.#idOf(key);
    return this.#parts.some(({ curves }) => (curves[id]?.points.length ?? 0) > 0);
  }

  /** The numbers of the row that was added last. */
  lastRow(): MetricRow {
    return this.#numbers.row();
  }

  /** Keys that had a number or null in some row, in the order of their first appearance. */
  keys(): string[] {
    const known = this.#numbers.keys.filter((key) => this.has(key) && (this.#hasRows || key !== STEP));
    return this.#hasRows || known.length === 0 ? known : [STEP, ...known];
  }

  /** One metric over another, or over `step` or `wallTime`. The arrays are read-only and valid until the next row. */
  series(key: string, xKey = STEP): Line {
    const name = `${key}\n${xKey}`;
    const known = this.#lines.get(name);
    if (known !== undefined) return known;
    const line = this.#line(key, xKey);
    this.#lines.set(name, line);
    return line;
  }

  /** The last value of every metric; null where it is not a finite number. */
  last(): Record<string, number | null> {
    const known = this.keys().map((key) => {
      const value = presentValue(this.series(key).y)!;
      return [key, Number.isNaN(value) ? null : value] as const;
    });
    return Object.fromEntries(known);
  }

  /** Adds the row whose numbers were read last. */
  #takeRow(time: number, number: number): boolean {
    const { ids, values, count } = this.#numbers;
    const taking = this.#taking;
    const x = this.#place.of(this.#numbers, taking.row, this.#moveTo);
    taking.isCoarse = this.#place.isCoarse;
    const part = this.#part(number, time);
    let resumed: Resume[] | null = null;
    for (let index = 0; index < count; index++) {
      const curve = this.#curve(part, ids[index]!);
      const at = curve.apart === null ? x : this.#placeApart(curve, x);
      const resume = curve.take(at, values[index]!, time, taking);
      if (resume !== null && !this.#isCounter(ids[index]!)) (resumed ??= []).push(resume);
    }
    if (resumed !== null) this.#resume(part, resumed, x);
    this.#front = Math.max(this.#front, x);
    taking.row += 1;
    this.#changed(time);
    return true;
  }

  #takePoints(row: WrittenRow, time: number, number: number): boolean {
    const { ids, values, count, keys } = this.#numbers;
    const step = typeof row[STEP] === 'number' ? row[STEP] : NaN;
    const part = this.#part(number, time);
    const isAlone = count === 1 && keys[ids[0]!] === STEP;
    for (let index = 0; index < count; index++)
      if (keys[ids[index]!] !== STEP) this.#takePoint(part, ids[index]!, { value: values[index]!, step, time });
    this.#taking.row += 1;
    if (!isAlone) this.#changed(time);
    return !isAlone;
  }

  #takePoint(part: FilePart, id: number, { value, step, time }: { value: number; step: number; time: number }): void {
    if (this.#leader < 0) this.#leader = id;
    const curve = this.#curve(part, id);
    curve.take(Number.isNaN(step) ? curve.count : step, value, time, this.#taking);
  }

  /** Metrics that were not written again end where those that lead resumed, unless they go on beyond where they were. */
  #resume({ curves }: FilePart, resumed: readonly Resume[], x: number): void {
    const leading = resumed.filter(({ top }) => top === this.#front);
    if (leading.length === 0) return;
    const from = Math.min(...leading.map((resume) => resume.from));
    const row = Math.min(...leading.map((resume) => resume.row));
    const others = curves.filter((curve, id) => curve !== undefined && curve.row < row && !this.#isCounter(id));
    const leaders = others.filter((curve) => curve!.apart === null && curve!.top === this.#front).length;
    if (2 * leading.length < leading.length + leaders) return;
    for (const curve of others) if (curve!.apart === null) curve!.hold(from);
    this.#front = x;
  }

  /** Puts rows so far at the first x of a better counter; metrics that have moved by the former one keep that. */
  #gather(x: number, former: number): void {
    for (const { curves } of this.#parts)
      for (const curve of curves) {
        if (curve === undefined) continue;
        if (curve.count > 1 && former !== this.#place.id) curve.apart = former;
        else curve.gather(x);
      }
    this.#front = x;
  }

  /** The x of a metric that has its own counter, until it comes in a row with that of the source. */
  #placeApart(curve: Curve, x: number): number {
    if (this.#place.isCounted) {
      curve.gather(x);
      this.#taking.isCoarse = true;
      return x;
    }
    const { ids, values, count } = this.#numbers;
    for (let index = 0; index < count; index++) if (ids[index] === curve.apart) return values[index]!;
    return curve.apart! < 0 ? this.#taking.row : curve.top;
  }

  #isCounter(id: number): boolean {
    const key = this.#numbers.keys[id]!;
    return id === this.#place.id || counterNamed(key) !== null || isClock(key);
  }

  #changed(time: number): void {
    this.#hasOwnTimes ||= !Number.isNaN(time);
    if (this.#lines.size > 0) this.#lines.clear();
  }

  #part(number: number, time: number): FilePart {
    const part = (this.#parts[number] ??= { curves: [], from: Infinity, to: -Infinity, purge: Infinity });
    if (time < part.from) part.from = time;
    if (time > part.to) part.to = time;
    return part;
  }

  #curve({ curves }: FilePart, id: number): Curve {
    return (curves[id] ??= new Curve(this.#bounds));
  }

  /** The key id of a metric, in `points` also of the steps of the first one; -1: unknown. */
  #idOf(key: string): number {
    return !this.#hasRows && key === STEP ? this.#leader : (this.#numbers.idOf(key) ?? -1);
  }

  #curvesOf(id: number): Curve[] {
    return this.#parts.flatMap(({ curves }) => curves[id] ?? []);
  }

  #topOf(id: number): number | undefined {
    return this.#curvesOf(id).at(-1)?.top;
  }

  #firstX(): number {
    return this.#parts.reduce((first, { curves }) => {
      return curves.reduce((least, curve) => Math.min(least, curve?.points.x[0] ?? Infinity), first);
    }, Infinity);
  }

  #line(key: string, xKey: string): Line {
    const { x, y, times } = joined(this.#parts, this.#idOf(key));
    if (x.length === 0) return noLine;
    const ys = !this.#hasRows && key === STEP ? x : y;
    if (xKey === STEP) return { x, y: ys };
    if (xKey === wallTime) return this.#overTime(x, ys, times);
    const other = this.series(xKey);
    if (other.x.length === 0) return noLine;
    return { x: hasSame(x, other.x) ? other.y : interpolated(x, other), y: ys };
  }

  #overTime(x: Float64Array, y: Float64Array, times: Float64Array | null): Line {
    if (times !== null) return { x: inSeconds(times), y };
    if (this.#stamps.length === 0) return noLine;
    const stamps = {
      x: Float64Array.from(this.#stamps, (stamp) => stamp.x),
      y: Float64Array.from(this.#stamps, (stamp) => stamp.time),
    };
    return { x: inSeconds(interpolated(x, stamps)), y };
  }
}

function sum<T>(all: readonly T[], numberOf: (each: T) => number): number {
  return all.reduce((total, each) => total + numberOf(each), 0);
}

function hasSame(one: Float64Array, other: Float64Array): boolean {
  return one.length === other.length && one.every((value, index) => value === other[index]);
}

/**
 * Numbers of points that do not count. `replaced`: a resumed attempt wrote them again, or others from an earlier x on. `doubled`: they
 * were written several times at one x, and the last counts. `thinned`: they lie between the points that are kept of a long series.
 * `unnamed`: values under more names than are kept.
 */
type LeftOut = Readonly<Record<'replaced' | 'doubled' | 'thinned' | 'unnamed', number>>;

/** Says that values are left out as they have too many names; null: none are. */
export function unnamedWords({ unnamed }: LeftOut): string | null {
  if (unnamed === 0) return null;
  return `values under more than ${MOST_KEYS} names are left out: ${unnamed}`;
}

/** Sentences on the values that are left out. */
export function leftOutWords(leftOut: LeftOut): string[] {
  const { replaced, doubled, thinned } = leftOut;
  const unnamed = unnamedWords(leftOut);
  return [
    ...(replaced === 0 ? [] : [`points that a resumed attempt replaced: ${replaced}`]),
    ...(doubled === 0 ? [] : [`values written again at a step that had one, of which the last counts: ${doubled}`]),
    ...(thinned === 0 ? [] : [`points between those that are kept of a long curve: ${thinned}`]),
    ...(unnamed === null ? [] : [unnamed]),
  ];
}
