import { declaredLimit, limitText } from '../../analysis/health/limits.js';
import { Memo } from '../../base/memo.js';
import { hasEnded, isBroken } from '../../base/run-words.js';
import { relativeTime, wallTime } from '../../metrics/line.js';
import type { MetricsReport } from '../../metrics/describe-sources.js';
import type { ChartChoice } from '../state/chart-choice.js';
import type { MetricReader, RunId, RunSummary, Series } from '../state/port.js';
import type { WallMetrics } from '../state/run-choice.js';
import type { Tone } from '../surface/span.js';

/** One run in a chart. */
export type Curve = {
  /** Label in the legend; empty: left out. */
  readonly label: string;
  readonly tone: Tone;
  readonly series: Series;
  /** What it shares its name in the legend and its colour with, where runs of several settings do: `lr 0.1`. */
  readonly family?: string | undefined;
  /** Last values of all runs of its name in the legend, drawn or not, where there are several. */
  readonly together?: readonly number[] | undefined;
  /** Setting of the run; curves of one setting may be drawn as one. Absent: always drawn by itself. */
  readonly setting?: string | undefined;
  /** Whether the run has ended, so that its curve is complete. */
  readonly isOver?: boolean;
  /** Its last value as the list and the tables show it; absent: that of the series, of which a part may not have been read. */
  readonly last?: number | undefined;
  /** Whether it diverged or broke otherwise; it then counts in no mean with runs that did not. */
  readonly isBroken?: boolean;
  /** How far it has come, in the unit of the other curves. Absent: unknown. */
  readonly place?: number | undefined;
};

/** What is known of a run beside its curve. @param place Its own of `placesOf`. */
export function knownOf(
  run: RunSummary,
  metric: string,
  place: number | undefined,
): Pick<Curve, 'isOver' | 'last' | 'isBroken' | 'place'> {
  const value = Object.hasOwn(run.metrics, metric) ? run.metrics[metric] : undefined;
  const last = value === null ? Number.NaN : value;
  return { isOver: hasEnded(run.state), isBroken: isBroken(run), last, place };
}

/** A line that a study declares, or a limit that a run declares: `value`, or `value` times x. */
export type Reference = {
  readonly label: string;
  readonly value: number;
  readonly isPerX: boolean;
  /** Whether the values need not come near it: then it is not shown, so that they stay readable. */
  readonly isLimit?: true;
};

/** Unit of the x axis: plain numbers, seconds, or Unix seconds. */
export type XUnit = 'number' | 'seconds' | 'clock';

/** What is known of the selection beyond its summary. */
export type Detail = {
  /** The chosen metric comes first. */
  readonly charts: readonly ChartData[];
  /** All metrics that have been written, for the wall of charts. `chartOf`: the chart of each. */
  readonly wall: () => WallMetrics;
  readonly chartOf: (metric: string) => ChartData;
  /** The step of the point of the first curve nearest to an x; null: unknown. */
  readonly stepAt: (metric: string, x: number) => number | null;
  readonly xKey: string;
  readonly xUnit: XUnit;
  /** How the charts are drawn. */
  readonly choice: ChartChoice;
  /** A note for all charts, such as that not every run is drawn; null: none. */
  readonly note: string | null;
  readonly log: readonly string[];
  /** Report on the metrics of the single selected run; null: several runs, or unknown. */
  readonly report?: (() => MetricsReport) | null;
  /** False until the files of the selection have been read. */
  readonly isLoaded: boolean;
};

export type ChartData = {
  readonly metric: string;
  readonly curves: readonly Curve[];
  /** Lines that studies declare, and limits of the runs. */
  readonly references?: readonly Reference[];
};

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

/** A drawn run, and its metrics so far. */
export type Source = { readonly run: RunSummary; readonly reader: MetricReader };

const mostReferences = 6;

/**
 * Lines to compare a metric with: the limit that the runs declare for it (`limit/NAME`), and what studies say of it, a value or a
 * multiple of what is on the x axis.
 */
export function referenceLines(metric: string, xKey: string, sources: readonly Source[]): Reference[] {
  const lines = sources.flatMap((source) => [...limitOf(metric, source), ...declaredLines(metric, xKey, source)]);
  const distinct = new Map(lines.map((line) => [`${line.label} ${line.value} ${line.isPerX}`, line]));
  return [...distinct.values()].sort((a, b) => Number(a.isPerX) - Number(b.isPerX)).slice(0, mostReferences);
}

function limitOf(metric: string, { reader }: Source): Reference[] {
  const value = declaredLimit(metric, (name) => reader.series(name));
  return value === null ? [] : [{ label: `limit ${limitText(value)}`, value, isPerX: false, isLimit: true }];
}

function declaredLines(metric: string, xKey: string, { reader }: Source): Reference[] {
  return (reader.lines?.() ?? [])
    .filter(({ metrics, per }) => metrics.includes(metric) && (per ?? xKey) === xKey)
    .map(({ text, y, per }) => ({ label: text, value: y, isPerX: per !== null }));
}

const tones: readonly Tone[] = ['curve0', 'curve1', 'curve2', 'curve3', 'curve4', 'curve5', 'curve6', 'curve7'];
/** Number of colours that can be told apart. */
export const mostColours = tones.length;

/**
 * The colour of each run and group, the same in every chart and in the list. Runs, settings and groups are coloured in sweep order,
 * so neither a filter nor a different list order changes colours. Groups of another grouping are coloured in the order in which
 * they are first drawn.
 */
export class CurveColours {
  readonly #runs: readonly RunSummary[];
  #numbers: Map<string, number> | null = null;
  readonly #others = new Map<string, number>();

  /** `runs`: all runs, shown or not; read once, when the first colour is requested. */
  constructor(runs: readonly RunSummary[]) {
    this.#runs = runs;
  }

  /** `key`: key of a list row. */
  of(key: string): Tone {
    this.#numbers ??= numbersOf(this.#runs);
    let number = this.#numbers.get(key) ?? this.#others.get(key);
    if (number === undefined) this.#others.set(key, (number = this.#others.size));
    return tones[number % tones.length]!;
  }
}

/** One colour per key: its own, or the next free one if another key already has it. Colours repeat from the ninth key on. */
export function distinctColours(keys: readonly string[], colours: CurveColours): Tone[] {
  const taken = new Set<Tone>();
  return keys.map((key) => {
    const own = colours.of(key);
    const from = tones.indexOf(own);
    const inOrder = tones.map((_, step) => tones[(from + step) % tones.length]!);
    const tone = inOrder.find((one) => !taken.has(one)) ?? own;
    taken.add(tone);
    return tone;
  });
}

/** A number for each row key. Runs, settings and groups are numbered separately. */
function numbersOf(runs: readonly RunSummary[]): Map<string, number> {
  const ids = new Map<RunId, number>();
  const groups = new Map<string, number>();
  const settings = new Map<string, number>();
  for (const { id, sweep, group, subgroup } of runs) {
    const key = `${sweep}/${group}`;
    ids.set(id, ids.size);
    if (!groups.has(key)) groups.set(key, groups.size);
    if (subgroup !== null && !settings.has(`${key}/${subgroup}`)) settings.set(`${key}/${subgroup}`, settings.size);
  }
  return new Map<string, number>([...ids, ...groups, ...settings]);
}
