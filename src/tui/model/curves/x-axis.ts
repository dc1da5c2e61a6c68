import { relativeTime, wallTime } from '../../../metrics/axes.js';
import type { MetricReader, Series } from '../../state/port.js';
import type { XUnit } from './chart-data.js';
import { Memo } from '../../../base/memo.js';

/** The x axis of the charts. `isChosen`: chosen by the user, so runs without it are left out instead of drawn over steps. */
export type XAxis = { readonly key: string; readonly unit: XUnit; readonly isChosen: boolean };

/** The chosen axis; null: `usual`, the one that the sweep names. */
export function xAxisOf(chosen: string | null, usual: string): XAxis {
  if (chosen === null) return { key: usual, unit: 'number', isChosen: false };
  if (chosen === 'relative') return { key: chosen, unit: 'seconds', isChosen: true };
  return { key: chosen, unit: chosen === 'time' ? 'clock' : 'number', isChosen: true };
}

/** One metric of a run over the axis; empty if the axis was chosen and the run does not have it. */
export function seriesOver(axis: XAxis, reader: MetricReader, metric: string): Series {
  if (axis.unit !== 'number') return overTime(axis.unit, reader, metric);
  const wanted = reader.series(metric, axis.key);
  return wanted.y.length > 0 || axis.isChosen ? wanted : reader.series(metric);
}

const nothing: Series = { x: new Float64Array(0), y: new Float64Array(0) };

/** Names of columns with the time of a row: Unix seconds or milliseconds, or seconds since the run began. */
const timeColumns = [
  ...['_timestamp', 'timestamp', 'wall_time', 'time'],
  ...['_runtime', 'runtime', 'elapsed', 'time_elapsed', 'time/time_elapsed', 'train_runtime'],
];

/** Minimum of Unix times in seconds (2001), longer than any run lasts. The next constant is the minimum in milliseconds. */
const unixSeconds = 1e9;
const unixMilliseconds = 1e12;

/** The column for an axis of time; null if the run has none. `time` requires Unix times. */
function timeColumn(reader: MetricReader, kind: 'relative' | 'time'): string | null {
  const keys = new Set(reader.keys());
  const isFit = (key: string): boolean => {
    const { y } = reader.series(key);
    const first = y.find(Number.isFinite);
    return first !== undefined && isRising(y) && (kind === 'relative' || first >= unixSeconds);
  };
  return timeColumns.find((key) => keys.has(key) && isFit(key)) ?? null;
}

function overTime(unit: 'seconds' | 'clock', reader: MetricReader, metric: string): Series {
  const column = timeColumn(reader, unit === 'clock' ? 'time' : 'relative');
  if (column === null) return byItself(unit, reader, metric);
  const first = reader.series(column).y.find(Number.isFinite) ?? 0;
  // A column that counts from the start of the run is already relative.
  const start = unit === 'clock' || first < unixSeconds ? 0 : first;
  const perSecond = first >= unixMilliseconds ? 1000 : 1;
  const series = reader.series(metric, column);
  if (start === 0 && perSecond === 1) return series;
  return inSeconds.value(series, `${start}`, () => ({
    x: series.x.map((value) => (value - start) / perSecond),
    y: series.y,
  }));
}

/** The metric over the time at which each value was written, from TensorBoard or W&B records, otherwise from the files. */
function byItself(unit: 'seconds' | 'clock', reader: MetricReader, metric: string): Series {
  if ((reader.clock ?? null) === null) return nothing;
  return reader.series(metric, unit === 'clock' ? wallTime : relativeTime);
}

/** Cached, because a new series object in each frame would cause a new picture in each frame. */
const inSeconds = new Memo<Series, Series>(2);

/** One line of the dialog for the x axis. */
export type XChoice = {
  /** null: the axis that the sweep names. */
  readonly key: string | null;
  readonly label: string;
  readonly about: string;
  /** Why it cannot be chosen, shortened in `about`; null: it can. */
  readonly refusal: string | null;
};

/**
 * Possible x axes, likely ones first: the one that the sweep names, steps, increasing columns, times; then all others.
 *
 * @param readers Readers of the shown runs; an axis that any of them has is offered.
 */
export function xChoicesOf(usual: string, readers: readonly MetricReader[]): XChoice[] {
  const keys = [...new Set(readers.flatMap((reader) => reader.keys()))].filter(
    (key) => key !== usual && key !== 'step',
  );
  const rises = (key: string): boolean => {
    const reader = readers.find((one) => one.series(key).y.length > 1);
    return reader !== undefined && isRising(reader.series(key).y);
  };
  const rising = new Set(keys.filter(rises));
  const plain = (key: string, about: string): XChoice => ({ key, label: key, about, refusal: null });
  return [
    { key: null, label: usual, about: 'as in the sweep file', refusal: null },
    ...(usual === 'step' ? [] : [plain('step', 'the steps of the run')]),
    timeChoice('relative', 'relative', 'time since the run began', readers),
    timeChoice('time', 'time', 'time of the day', readers),
    ...keys.filter((key) => rising.has(key) && key !== 'time').map((key) => plain(key, 'rises')),
    ...keys.filter((key) => !rising.has(key) && key !== 'time').map((key) => plain(key, 'points, not joined')),
  ];
}

function timeChoice(key: 'relative' | 'time', label: string, about: string, readers: readonly MetricReader[]): XChoice {
  const clocks = readers.map((reader) => (timeColumn(reader, key) === null ? (reader.clock ?? null) : 'values'));
  if (clocks.includes('values')) return { key, label, about, refusal: null };
  if (clocks.includes('files')) return { key, label, about: `${about}, from its files`, refusal: null };
  return { key, label, ...unknownTime(key, readers) };
}

function unknownTime(key: 'relative' | 'time', readers: readonly MetricReader[]): Pick<XChoice, 'about' | 'refusal'> {
  if (!readers.some((reader) => reader.keys().length > 0))
    return { about: 'no values yet', refusal: 'These runs have written no values yet.' };
  const columns = key === 'time' ? '_timestamp or time in Unix seconds' : '_timestamp, time or _runtime';
  return {
    about: 'nothing says when values were written',
    refusal: `Nothing says when these values were written: no column ${columns}, and each file was written at one moment.`,
  };
}

const rising = new WeakMap<Float64Array, boolean>();

/** Whether values never decrease and are not all equal. Cached per array, which does not change. */
function isRising(y: Float64Array): boolean {
  const known = rising.get(y);
  if (known !== undefined) return known;
  let before = -Infinity;
  const falls = y.some((value) => {
    const isLess = value < before;
    if (value > before) before = value;
    return isLess;
  });
  const result = !falls && y.find(Number.isFinite) !== before;
  rising.set(y, result);
  return result;
}
