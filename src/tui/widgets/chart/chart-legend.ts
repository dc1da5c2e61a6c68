import { notFiniteText, type Results, resultsOf } from '../../../analysis/seed-statistics.js';
import { mean } from '../../../analysis/statistics.js';
import { Memo } from '../../../base/memo.js';
import { textWidth } from '../../../text/display-width.js';
import { fitDistinct } from '../../../text/distinct-names.js';
import { narrowNumber } from '../../../text/numbers.js';
import type { Curve, XUnit } from '../../model/chart-data.js';
import type { ChartChoice, Spread } from '../../state/chart-choice.js';
import type { Series } from '../../state/port.js';
import { type Line, span, type Span } from '../../surface/span.js';
import { flow } from '../parameters.js';
import { type ChartLook, cursorX, lookKey, seriesContextOf } from './chart.js';
import { type ChartSeries, lastValue, lowerBound } from './chart-series.js';
import { lineSign } from './braille-canvas.js';
import { exactSeconds, exactTime } from './chart-axis.js';

/** The legend with the last values of the lines, or those at the cursor; one entry per label, in at most `height` lines. Cached. */
export function legendLines(curves: readonly Curve[], look: ChartLook, width: number, height: number): Line[] {
  if (height <= 0) return [];
  const question = `${width} ${height} ${look.choice.cursor} ${lookKey(look)}`;
  return legends.value(curves, question, () => readOff(curves, look, width, height));
}

const legends = new Memo<readonly Curve[], Line[]>(2);

function readOff(curves: readonly Curve[], look: ChartLook, width: number, height: number): Line[] {
  const allSeries = seriesContextOf(curves, width, look)?.allSeries ?? [];
  const { choice } = look;
  const x = cursorX(curves, choice);
  const entries = entriesOf(allSeries, x !== null);
  const labels = shortLabels(entries, width);
  const pieces = entries.map(({ series, others }, index): Line => {
    const readings = [series, ...others].map((one) => (x === null ? lastReading(one) : readingAt(one, x)));
    return [
      span(lineSign(series.tone, choice.hasDashes), series.tone),
      span(series.label === '' ? '' : `${labels[index]!} `, 'plain'),
      ...summary({ series, others }, readings, choice),
    ];
  });
  return flow([...placeOf(x, look), ...pieces], width, height);
}

/** Position of the cursor. */
function placeOf(x: number | null, { xUnit }: ChartLook): Line[] {
  return x === null ? [] : [[span('x = ', 'dim'), span(`${xText(x, xUnit)} │`, 'strong')]];
}

/**
 * The legend and the position of the cursor in one line for all charts of the same runs; empty if no curve has a name and there is
 * no cursor.
 */
export function labelLines(curves: readonly Curve[], look: ChartLook, width: number): Line[] {
  const entries = entriesOf(seriesContextOf(curves, width, look)?.allSeries ?? [], false);
  const labels = shortLabels(entries, width);
  const pieces = entries.map(({ series }, index): Line => [
    span(lineSign(series.tone, look.choice.hasDashes), series.tone),
    span(labels[index]!, 'plain'),
  ]);
  return flow([...placeOf(cursorX(curves, look.choice), look), ...pieces], width, 1);
}

/** Columns of an entry besides its label, for one run or for several: `━ … 0.8747`, `━ … n=12 0.8747 ±0.0021`. */
const besideLabel = { one: 13, several: 25 };

/** Shortens labels that leave no room for the value; each keeps what distinguishes it from the others. */
function shortLabels(entries: readonly Entry[], width: number): string[] {
  const labels = entries.map(({ series }) => series.label);
  const beside = entries.some(({ series }) => series.seeds !== null) ? besideLabel.several : besideLabel.one;
  const most = Math.max(besideLabel.one, width - beside);
  return labels.map((label) => (textWidth(label) <= most ? label : fitDistinct(label, most, labels).trimEnd()));
}

/** The reading of all curves outside the background: one value, or the lowest and the highest. */
export function wholeReading(curves: readonly Curve[], look: ChartLook, width: number): Line {
  const allSeries = (seriesContextOf(curves, width, look)?.allSeries ?? []).filter(({ tone }) => tone !== 'faint');
  const x = cursorX(curves, look.choice);
  const readings = allSeries.flatMap((one) => (x === null ? lastReading(one) : readingAt(one, x)) ?? []);
  const [only] = readings;
  if (only === undefined) return [];
  if (readings.length === 1)
    return allSeries[0]!.seeds === null ? [valueSpan(only.value)] : together(only, look.choice.spread).slice(1);
  const finite = readings.map(({ value }) => value).filter(Number.isFinite);
  const count = (of: (reading: Reading) => number) => readings.reduce((sum, reading) => sum + of(reading), 0);
  return extent({ finite, nan: count(({ nan }) => nan), infinite: count(({ infinite }) => infinite) });
}

type Entry = { series: ChartSeries; others: ChartSeries[] };

/** Legend entries. Curves with the same label share colour and entry. Nameless curves are only included for their values. */
function entriesOf(allSeries: readonly ChartSeries[], withNameless: boolean): Entry[] {
  const entries = new Map<string, Entry>();
  for (const series of allSeries) {
    if (series.label === '' && (!withNameless || series.tone === 'faint')) continue;
    const entry = entries.get(series.label);
    if (entry === undefined) entries.set(series.label, { series, others: [] });
    else entry.others.push(series);
  }
  return [...entries.values()];
}

/**
 * One value for the runs of one setting; for several settings the lowest and the highest, as their mean would be that of none. At their
 * ends it is of all runs, drawn or not.
 */
function summary({ series, others }: Entry, readings: readonly (Reading | null)[], choice: ChartChoice): Line {
  if (series.seeds !== null && others.length === 0) return together(readings[0] ?? null, choice.spread);
  const atEnd = choice.cursor === null ? series.together : undefined;
  const results = resultsOf(atEnd ?? readings.flatMap((reading) => (reading === null ? [] : [reading.value])));
  return others.some(({ setting }) => setting !== series.setting) ? extent(results) : single(results);
}

function extent(results: Results): Line {
  const { finite } = results;
  if (finite.length === 0) return notFinite(results);
  const [low, high] = [Math.min(...finite), Math.max(...finite)].map(narrowNumber);
  return [span(low === high ? low! : `${low}–${high}`, 'value'), ...beside(results)];
}

function single(results: Results): Line {
  const { finite, nan, infinite } = results;
  if (finite.length + nan + infinite === 0) return [span('–', 'dim')];
  if (nan + infinite === 1 && finite.length === 0) return [valueSpan(nan > 0 ? Number.NaN : Infinity)];
  const middle = mean(finite);
  return middle === null ? notFinite(results) : [valueSpan(middle), ...beside(results)];
}

function valueSpan(value: number): Span {
  return span(narrowNumber(value), Number.isFinite(value) ? 'value' : 'bad');
}

type Counts = Parameters<typeof notFiniteText>[0];

/** Number of runs with non-finite values. */
function notFinite(counts: Counts): Line {
  return [span(notFiniteText(counts), 'bad')];
}

/** The same after the summary of the other runs; empty if all values are finite. */
function beside(counts: Counts): Line {
  return notFiniteText(counts) === '' ? [] : [span(' · ', 'dim'), ...notFinite(counts)];
}

function together(reading: Reading | null, spread: Spread): Line {
  if (reading === null) return [span('–', 'dim')];
  const { value, low, high } = reading;
  if (reading.runs === 0) return notFinite(reading);
  const number = [span(`${runsText(reading)} `, 'dim'), valueSpan(value)];
  return [...number, ...(Number.isNaN(low) ? [] : [bandSpan({ low, high }, spread)]), ...beside(reading)];
}

/** `n=15`, `n=12 of 15` if some have no value there or broke, `n=15, 3 ended` if some are carried, `n=15, 3 behind`. */
function runsText({ runs, carried, of, nan, infinite, behind }: Reading): string {
  if (carried > 0) return `n=${runs}, ${carried} ended`;
  const words = runs + nan + infinite < of ? `n=${runs} of ${of}` : `n=${runs}`;
  return behind > 0 ? `${words}, ${behind} behind` : words;
}

/** The band. Around a mean both sides are equal and shown once. */
function bandSpan({ low, high }: Pick<Reading, 'low' | 'high'>, spread: Spread): Span {
  const isAround = spread === 'std' || spread === 'band';
  return span(
    isAround ? ` ±${narrowNumber((high - low) / 2)}` : ` [${narrowNumber(low)}–${narrowNumber(high)}]`,
    'dim',
  );
}

function xText(x: number, unit: XUnit): string {
  if (unit === 'clock') return exactTime(x);
  return unit === 'seconds' ? exactSeconds(x) : narrowNumber(Math.abs(x) >= 1000 ? Math.round(x) : x);
}

/** Names of seed summaries for headings. */
export const spreadNames: Record<ChartChoice['spread'], string> = {
  each: 'each seed',
  std: 'mean ± std',
  band: 'mean, 95 % band',
  range: 'mean, min–max',
  median: 'median, quartiles',
  iqm: 'IQM, quartiles',
};

/**
 * The value of a series at some x or at its end. `value` NaN: not a number. `runs`: number of runs it represents, `carried` of them
 * by their final value, out of `of` runs drawn as one. `nan` and `infinite`: number of runs with such a value. `behind`:
 * number of runs that are not as far as the others.
 */
type Reading = {
  readonly value: number;
  readonly low: number;
  readonly high: number;
  readonly runs: number;
  readonly carried: number;
  readonly of: number;
  readonly nan: number;
  readonly infinite: number;
  readonly behind: number;
};

/** The reading of a single run. */
function alone(value: number): Reading {
  const { finite, nan, infinite } = resultsOf([value]);
  return { value, low: Number.NaN, high: Number.NaN, runs: finite.length, carried: 0, of: 1, nan, infinite, behind: 0 };
}

/** The reading at `x`, interpolated between points; null beyond the ends, in gaps, and if x is not increasing. */
function readingAt({ whole, seeds, isRising }: ChartSeries, x: number): Reading | null {
  if (!isRising || whole.x.length === 0) return null;
  const value = valueNear(whole, x);
  if (value === null) return null;
  if (seeds === null) return alone(value);
  const cell = Math.min(whole.x.length - 1, lowerBound(whole.x, x, 0));
  const carried = seeds.carried[cell]!;
  const [low, high] = [seeds.low[cell]!, seeds.high[cell]!];
  return {
    value,
    low,
    high,
    runs: seeds.counts[cell]! + carried,
    carried,
    of: seeds.of,
    nan: 0,
    infinite: 0,
    behind: 0,
  };
}

/** The reading without a cursor: the last value written; for seeds, the summary of their last values. */
function lastReading({ whole, raw, last: known, seeds }: ChartSeries): Reading | null {
  if (seeds === null) return whole.y.length === 0 ? null : alone(known ?? lastValue(raw ?? whole, whole));
  const { last, results, behind } = seeds;
  const { finite, nan, infinite } = results;
  const runs = { runs: finite.length, carried: 0, of: seeds.of, nan, infinite, behind };
  return { value: last.middle, low: last.low, high: last.high, ...runs };
}

function valueNear({ x, y }: Series, at: number): number | null {
  const next = lowerBound(x, at, 0);
  const value = x[next] === at ? y[next]! : between({ x, y }, next, at);
  return Number.isFinite(value) ? value : null;
}

function between({ x, y }: Series, next: number, at: number): number {
  if (next === 0 || next >= x.length) return Number.NaN;
  const share = (at - x[next - 1]!) / (x[next]! - x[next - 1]!);
  return y[next - 1]! + (y[next]! - y[next - 1]!) * share;
}
