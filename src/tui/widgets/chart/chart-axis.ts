import { lazy } from '../../../base/lazy.js';
import { Memo } from '../../../base/memo.js';
import { twoDigits } from '../../../text/duration.js';
import { axisNumbers } from '../../../text/numbers.js';
import type { XUnit } from '../../model/chart-data.js';
import type { Series } from '../../state/port.js';

/** One axis: the values at its ends, and whether it is logarithmic. `low` < `high`. */
export type Scale = { readonly low: number; readonly high: number; readonly isLog: boolean };

/**
 * Position of a value: 0 at the low end, 1 at the high end, beyond these outside. NaN if a logarithmic axis has no position for it.
 */
export function fractionOf(scale: Scale, value: number): number {
  const from = coordinate(scale.isLog, scale.low);
  const range = coordinate(scale.isLog, scale.high) - from;
  return range > 0 ? (coordinate(scale.isLog, value) - from) / range : 0.5;
}

/** The value at a fraction of the axis; the inverse of `fractionOf`. */
export function valueAt(scale: Scale, fraction: number): number {
  const from = coordinate(scale.isLog, scale.low);
  const to = coordinate(scale.isLog, scale.high);
  const at = from + (to - from) * fraction;
  return scale.isLog ? 10 ** at : at * 2;
}

/** The part of an axis between two fractions. */
export function partOf(scale: Scale, { from, to }: { readonly from: number; readonly to: number }): Scale {
  return { ...scale, low: valueAt(scale, from), high: valueAt(scale, to) };
}

/** Limit of positions, farther out than the size of any picture. */
const far = 1e9;

/**
 * Maps values to unrounded positions from 0 to `last`, starting at the low end. Values outside get a finite position outside; NaN
 * stays NaN. A class rather than a closure, because a closure is not inlined into the calling loop, which then takes ten times as
 * long.
 */
export class Ruler {
  readonly #from: number;
  readonly #perUnit: number;
  readonly #isLog: boolean;
  readonly #middle: number;

  constructor(scale: Scale, last: number) {
    this.#from = coordinate(scale.isLog, scale.low);
    this.#perUnit = last / (coordinate(scale.isLog, scale.high) - this.#from);
    this.#isLog = scale.isLog;
    this.#middle = last / 2;
  }

  at(value: number): number {
    if (!Number.isFinite(this.#perUnit)) return this.#middle;
    const position = (coordinate(this.#isLog, value) - this.#from) * this.#perUnit;
    return position < -far ? -far : position > far ? far : position;
  }
}

/** The logarithm, or half of the value, so that the range between the largest doubles is still finite. */
function coordinate(isLog: boolean, value: number): number {
  if (!isLog) return value / 2;
  return value > 0 ? Math.log10(value) : Number.NaN;
}

/** Facts about a whole series, needed before any part is drawn. `low` > `high`: nothing can be drawn. */
type SeriesFacts = {
  /** The range of x over the points with a finite y. */
  readonly low: number;
  readonly high: number;
  /** The smallest positive x, where a logarithmic axis begins. */
  readonly lowPositive: number;
  /** Number of points with x at or below zero, and with y at or below zero, which a logarithmic axis leaves out. */
  readonly xNotPositive: number;
  readonly yNotPositive: number;
  /** Whether x is always finite and never decreases. Otherwise points are not joined. */
  readonly isRising: boolean;
};

/** Facts of a series, computed once, since a series does not change. A tight loop, because it visits every point. */
export function factsOf(series: Series): SeriesFacts {
  return facts.value(series, '', () => readFacts(series));
}

const facts = new Memo<Series, SeriesFacts>(1);

function readFacts({ x, y }: Series): SeriesFacts {
  let [low, high, lowPositive] = [Infinity, -Infinity, Infinity];
  let [xNotPositive, yNotPositive] = [0, 0];
  for (let index = 0; index < y.length; index++) {
    const across = x[index]!;
    const up = y[index]!;
    // The difference is NaN for NaN and both infinities, and 0 otherwise.
    if (up - up !== 0 || across - across !== 0) continue;
    if (across < low) low = across;
    if (across > high) high = across;
    if (across <= 0) xNotPositive++;
    else if (across < lowPositive) lowPositive = across;
    if (up <= 0) yNotPositive++;
  }
  return { low, high, lowPositive, xNotPositive, yNotPositive, isRising: isRising(x) };
}

function isRising(x: Float64Array): boolean {
  let before = -Infinity;
  for (let index = 0; index < x.length; index++) {
    const across = x[index]!;
    if (!(across >= before) || across === Infinity) return false;
    before = across;
  }
  return true;
}

/**
 * Round numbers (1, 2 or 5 times a power of ten apart) between `low` and `high`, at most `most` of them. Empty if the range is
 * empty or not finite.
 */
export function ticks(low: number, high: number, most: number): number[] {
  const range = high - low;
  if (!(range > 0) || !Number.isFinite(range) || most < 1) return [];
  const step = [1, 2, 5, 10, 20, 50, 100]
    .map((factor) => factor * 10 ** Math.floor(Math.log10(range / most)))
    .find((size) => Math.floor(high / size) - Math.ceil(low / size) + 1 <= most);
  return step === undefined ? [] : multiples(low, high, step, most);
}

/** The multiples of `step` between `low` and `high`, at most `most`. */
function multiples(low: number, high: number, step: number, most: number): number[] {
  const first = Math.ceil(low / step - 1e-9);
  const count = Math.min(most, Math.floor(high / step + 1e-9) - first + 1);
  // If the range is close to the precision of doubles, rounding may put a mark slightly beyond the edge.
  const slack = (high - low) * 1e-6;
  return Array.from({ length: Math.max(0, count) }, (_, index) =>
    Number(((first + index) * step).toPrecision(12)),
  ).filter((mark) => mark >= low - slack && mark <= high + slack);
}

/**
 * Marks of a logarithmic axis, at most `most`: powers of ten, or every second or third of them if there are many, with their
 * doubles and fivefolds if there are few; round numbers if the axis spans less than a factor of ten.
 */
export function logTicks(low: number, high: number, most: number): number[] {
  if (!(low > 0 && low < high) || !Number.isFinite(high) || most < 1) return [];
  const [from, to] = [Math.ceil(Math.log10(low) - 1e-9), Math.floor(Math.log10(high) + 1e-9)];
  const stride = Math.ceil((to - from + 1) / most);
  const first = Math.ceil(from / stride) * stride;
  const decades = Array.from({ length: Math.max(0, Math.floor((to - first) / stride) + 1) }, (_, index) =>
    Number(`1e${first + index * stride}`),
  );
  const finer = [1, 2, 5]
    .flatMap((factor) => Array.from({ length: to - from + 2 }, (_, index) => Number(`${factor}e${from - 1 + index}`)))
    .filter((mark) => mark >= low * (1 - 1e-9) && mark <= high * (1 + 1e-9))
    .sort((a, b) => a - b);
  if (stride === 1 && finer.length <= most && finer.length > 2) return finer;
  return decades.length >= 2 || high / low >= 100 ? decades : ticks(low, high, most);
}

/** A mark on an axis of time, with its label. */
type LabelledTick = { readonly value: number; readonly label: string };

const minute = 60;
const hour = 3600;
const day = 86_400;
const roundSeconds = [
  ...[1, 2, 5, 10, 15, 30, minute, 2 * minute, 5 * minute, 10 * minute, 15 * minute, 30 * minute],
  ...[hour, 2 * hour, 3 * hour, 6 * hour, 12 * hour, day, 2 * day, 7 * day, 14 * day, 28 * day],
];

/** Round durations, `low` and `high` in seconds. */
export function secondTicks(low: number, high: number, most: number): LabelledTick[] {
  const step = roundStep(low, high, most);
  return (step === null ? ticks(low, high, most) : multiples(low, high, step, most)).map((value) => ({
    value,
    label: secondsLabel(value, step ?? 0.1),
  }));
}

/** Round times of day in the local time zone, `low` and `high` in Unix seconds. */
export function clockTicks(low: number, high: number, most: number): LabelledTick[] {
  const step = roundStep(low, high, most) ?? 1;
  // Marks are counted from local midnight, because a round local hour is not round in every time zone.
  const shift = -zoneOffset(low);
  return multiples(low - shift, high - shift, step, most).map((value) => ({
    value: value + shift,
    label: clockLabel(value + shift, step),
  }));
}

/** Null: less than a second, for which ordinary numbers suffice. */
function roundStep(low: number, high: number, most: number): number | null {
  if (!(high > low) || high - low < most) return null;
  return roundSeconds.find((step) => (high - low) / step <= most - 1) ?? Math.ceil((high - low) / most / day) * day;
}

function secondsLabel(value: number, step: number): string {
  const rounded = Math.abs(value);
  const sign = value < 0 ? '-' : '';
  if (rounded === 0) return '0';
  if (step >= day) return `${sign}${rounded / day}d`;
  if (step >= hour) return `${sign}${rounded / hour}h`;
  if (rounded >= hour)
    return `${sign}${Math.floor(rounded / hour)}h${twoDigits(Math.floor((rounded % hour) / minute))}m`;
  if (step >= minute) return `${sign}${rounded / minute}m`;
  if (rounded >= minute) return `${sign}${Math.floor(rounded / minute)}m${twoDigits(rounded % minute)}`;
  return `${sign}${Number(rounded.toPrecision(6))}s`;
}

function clockLabel(value: number, step: number): string {
  const { day: date, month, hour: hours, minute: minutes, second } = partsOf(value);
  if (step >= day) return `${date}.${month}.`;
  return step < minute ? `${hours}:${minutes}:${second}` : `${hours}:${minutes}`;
}

/** Seconds by which local time is ahead of UTC. */
function zoneOffset(value: number): number {
  const { hour: hours, minute: minutes, second } = partsOf(value);
  const ahead = Number(hours) * hour + Number(minutes) * minute + Number(second) - (Math.floor(value) % day);
  // Noon in Auckland is the evening before in UTC: offsets range from -12 to +14 hours.
  return ahead > 14 * hour ? ahead - day : ahead <= -12 * hour ? ahead + day : ahead;
}

const format = lazy(() => {
  const each = '2-digit';
  const parts = { day: each, month: each, hour: each, minute: each, second: each } as const;
  return new Intl.DateTimeFormat('en-GB', { ...parts, hourCycle: 'h23' });
});

/** Local date and time digits of Unix seconds. */
function partsOf(value: number): Record<'day' | 'month' | 'hour' | 'minute' | 'second', string> {
  const parts = new Map(
    format()
      .formatToParts(value * 1000)
      .map(({ type, value: digits }) => [type, digits]),
  );
  const part = (name: Intl.DateTimeFormatPartTypes): string => parts.get(name) ?? '';
  return { day: part('day'), month: part('month'), hour: part('hour'), minute: part('minute'), second: part('second') };
}

/** An exact duration: `1h02m03s`, `4.25s`. */
export function exactSeconds(value: number): string {
  const seconds = Math.abs(value);
  const sign = value < 0 ? '-' : '';
  if (seconds < minute) return `${sign}${Number(seconds.toFixed(2))}s`;
  const [hours, minutes] = [Math.floor(seconds / hour), Math.floor((seconds % hour) / minute)];
  return `${sign}${hours > 0 ? `${hours}h` : ''}${twoDigits(minutes)}m${twoDigits(Math.floor(seconds % minute))}s`;
}

/** Unix seconds as local time: `05.01. 12:30:07`. */
export function exactTime(value: number): string {
  return `${clockLabel(value, day)} ${clockLabel(value, 1)}`;
}

/** A number beside an axis, and its position from 0 to 1. */
export type Mark = { readonly fraction: number; readonly label: string };

/** Numbers beside the y axis: about one per three rows, and enough that a range around zero has them on both sides. */
export function yMarksOf(y: Scale, rows: number): Mark[] {
  return numberMarks(y, Math.max(rows >= 5 ? 3 : 2, Math.floor(rows / 3)));
}

/** Numbers below the x axis: at most one per ten columns. */
export function xMarksOf(x: Scale, columns: number, unit: XUnit): Mark[] {
  const most = Math.max(2, Math.floor(columns / 10));
  if (x.isLog || unit === 'number') return numberMarks(x, most);
  const found = unit === 'clock' ? clockTicks(x.low, x.high, most) : secondTicks(x.low, x.high, most);
  return found.map(({ value, label }) => ({ fraction: fractionOf(x, value), label }));
}

function numberMarks(scale: Scale, most: number): Mark[] {
  const { low, high } = scale;
  const at = scale.isLog ? logTicks(low, high, most) : ticks(low, high, most);
  const step = at.length > 1 ? at[1]! - at[0]! : lastDigit(at[0] ?? 1);
  // Digits depend on the range of the labels rather than of the axis, because only labels are compared.
  const ends = { low: at[0] ?? low, high: at.at(-1) ?? high, isLog: scale.isLog };
  const text = axisNumbers(ends, step);
  return at.map((value) => ({ fraction: fractionOf(scale, value), label: text(value) }));
}

/** Place value of the last digit of a round number: 0.1 for 2.5, 10 for 250. */
function lastDigit(value: number): number {
  const [digits, exponent] = value.toExponential(11).split('e');
  const decimals = digits!.replace(/\.?0+$/, '').split('.')[1] ?? '';
  return 10 ** (Number(exponent) - decimals.length);
}
