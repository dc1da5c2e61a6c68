import { emptyLines, hasMetrics } from '../../../metrics/describe-sources.js';
import { counted, narrowNumber } from '../../../text/numbers.js';
import type { ChartData, Curve, Detail } from '../../model/chart-data.js';
import type { ChartChoice } from '../../state/chart-choice.js';
import { fit, type Line, lineWidth, span, type Span } from '../../surface/span.js';
import { metricsReportWithin } from '../metrics-report.js';
import { sectionRule } from '../line-parts.js';
import { legendLines, spreadNames } from './chart-legend.js';
import { chart, type ChartLook, plainLook, seriesContextOf, type YAxis } from './chart.js';

/** Room for a chart. `legend`: rows below it, if they must match those of its neighbours. */
type ChartRoom = { readonly width: number; readonly height: number; readonly legend?: number };

/** Settings common to all charts shown together. */
export type ChartSetting = Pick<Detail, 'xKey' | 'isLoaded'> &
  Partial<Pick<Detail, 'xUnit' | 'choice' | 'note' | 'report'>>;

/** A heading, the curves of one metric, and the legend below them: exactly `height` lines. */
export function chartSection(data: ChartData, detail: ChartSetting, { width, height, legend }: ChartRoom): Line[] {
  const look = lookOf(data, detail);
  const entries = legendLines(data.curves, look, width, legend ?? mostLegend(height));
  const legendRows = Array.from({ length: legend ?? entries.length }, (_, row) => entries[row] ?? []);
  return [
    chartHeading({ metric: data.metric, xKey: detail.xKey, note: detail.note ?? null }, data.curves, look, width),
    ...(emptyReport(detail, data.curves, { width, height: height - 1 - legendRows.length }) ??
      chart(data.curves, width, height - 1 - legendRows.length, look)),
    ...legendRows,
  ];
}

/** Minimum rows for a report instead of the plain text that there are no values. */
const leastReport = 4;

/**
 * Why there is nothing to draw for a run without any metrics, in exactly `height` lines; null: it has metrics, or there is no room.
 */
export function emptyReport(
  { report, isLoaded }: Pick<ChartSetting, 'report' | 'isLoaded'>,
  curves: readonly Curve[],
  { width, height }: ChartRoom,
): Line[] | null {
  if (!isLoaded || !report || height < leastReport || curves.some(({ series }) => series.y.length > 0)) return null;
  const found = report();
  return hasMetrics(found) ? null : metricsReportWithin(emptyLines(found), width, height);
}

/** Rows of the legends, the same for all charts beside each other. */
export function sharedLegend(
  charts: readonly ChartData[],
  detail: ChartSetting,
  width: number,
  height: number,
): number {
  return Math.max(
    0,
    ...charts.map((data) => legendLines(data.curves, lookOf(data, detail), width, mostLegend(height)).length),
  );
}

/** How the chart of a metric is drawn. */
export function lookOf({ metric, references }: ChartData, { choice, xUnit, isLoaded }: ChartSetting): ChartLook {
  const plain = plainLook(isLoaded ? `no values of ${metric} yet` : 'reading…');
  const { ownLogY, ...common } = choice ?? plain.choice;
  const own = Object.fromEntries(Object.entries(ownLogY).filter(([key]) => key === metric));
  const isLogY = metric in own ? own[metric]! : common.isLogY;
  return {
    ...plain,
    choice: { ...common, isLogY, ownLogY: own },
    references: references ?? plain.references,
    xUnit: xUnit ?? plain.xUnit,
  };
}

function mostLegend(height: number): number {
  return Math.max(0, Math.min(3, Math.floor(height / 5)));
}

/** The metric, its x axis and a note. */
type ChartTitle = { readonly metric: string; readonly xKey: string; readonly note: string | null };

/** Columns kept for the name of the metric. The next constant is for the rule around it. */
const leastName = 16;
const rule = 8;

/**
 * The rule above a chart: the metric at the left, and at the right what is not obvious: points left out, the visible part, how
 * seeds are combined, smoothing, axes. If there is little room, each of these is shortened, then the first ones are dropped.
 */
export function chartHeading(title: ChartTitle, curves: readonly Curve[], look: ChartLook, width: number): Line {
  const name = title.metric;
  const long = pieces(title, curves, look, width);
  const short: Span[] = long.map(({ short: text, tone }) => ({ text, tone }));
  // The axis is the last piece and is shortened first, because most of its name is its group.
  const fitting = [long, [...long.slice(0, -1), ...short.slice(-1)]]
    .map(right)
    .find((words) => lineWidth(words) + name.length + rule <= width);
  if (fitting !== undefined) return sectionRule(name, fitting, width);
  const room = width - rule - Math.min(leastName, name.length);
  while (short.length > 0 && lineWidth(right(short)) > room) short.splice(short.length > 1 ? -2 : 0, 1);
  const words = right(short);
  const left = width - rule - lineWidth(words);
  const shown = name.length <= left ? name : fit(lastPart(name), Math.min(lastPart(name).length, Math.max(1, left)));
  return sectionRule(shown, words, width);
}

/** Describes how charts with a common heading are drawn. Notes on their values are in each chart. */
export function chartNotes(
  title: Omit<ChartTitle, 'metric'>,
  curves: readonly Curve[],
  look: ChartLook,
  width: number,
): Line {
  return right(commonPieces(title, curves, look, width));
}

/** Short notes on the values of one chart: `log y`, `▲2`. */
export function ownNotes(curves: readonly Curve[], look: ChartLook, width: number): Line {
  return right(ownPieces(curves, look, width).map(({ short, tone }) => ({ text: short, tone })));
}

type Piece = Span & { readonly short: string };

function pieces(title: Omit<ChartTitle, 'metric'>, curves: readonly Curve[], look: ChartLook, width: number): Piece[] {
  return [...ownPieces(curves, look, width), ...commonPieces(title, curves, look, width)];
}

/** Notes that follow from the values of these curves. */
function ownPieces(curves: readonly Curve[], look: ChartLook, width: number): Piece[] {
  const { leftOut = { x: 0, y: 0 }, y = null } = seriesContextOf(curves, width, look) ?? {};
  const found = [
    y === null ? null : beyondPiece(y),
    leftOut.y > 0 ? piece(`${leftOut.y} ≤ 0 left out`, `${leftOut.y} ≤ 0`, 'warn') : null,
    leftOut.x > 0 ? piece(`${leftOut.x} at x ≤ 0 left out`, `${leftOut.x} x ≤ 0`, 'warn') : null,
    axisPiece(look.choice, y),
  ];
  return found.filter((one) => one !== null);
}

function commonPieces(
  { xKey, note }: Omit<ChartTitle, 'metric'>,
  curves: readonly Curve[],
  look: ChartLook,
  width: number,
): Piece[] {
  const found = [
    note === null ? null : piece(note, note, 'faint'),
    ...choicePieces(look.choice),
    endedPiece(curves, look, width),
    piece(xKey, lastPart(xKey), 'faint'),
  ];
  return found.filter((one) => one !== null);
}

/** The note on a y axis that differs from what was chosen for all charts; highlighted if nobody chose it. */
function axisPiece({ isLogY, ownLogY }: ChartChoice, y: YAxis | null): Piece | null {
  const isOwn = Object.keys(ownLogY).length > 0;
  if (isOwn && isLogY !== null) return piece(isLogY ? 'log y' : 'linear y', isLogY ? 'log y' : 'linear', 'faint');
  return isLogY === null && y?.scale.isLog === true ? piece('log y', 'log y', 'accent') : null;
}

/** The note on values outside the axis. */
function beyondPiece({ beyond, farthest }: YAxis): Piece | null {
  if (beyond === 0) return null;
  const sign = farthest > 0 ? '▲' : '▼';
  return piece(`${sign} ${counted(beyond, 'curve')} to ${narrowNumber(farthest)}`, `${sign}${beyond}`, 'warn');
}

function choicePieces(choice: ChartChoice): (Piece | null)[] {
  const { zoom, spread, smoothing, isClipped } = choice;
  const part = zoom === null ? '' : `${percent(zoom.from)}–${percent(zoom.to)} %`;
  return [
    zoom === null ? null : piece(`zoom ${part}`, part, 'accent'),
    spread === 'each' ? null : piece(spreadNames[spread], shortSpreads[spread], 'faint'),
    smoothing === 0 ? null : piece(`smoothed ${smoothing}`, `~${smoothing}`, 'faint'),
    isClipped ? piece('outliers cut', 'cut', 'faint') : null,
    logPiece(choice),
  ];
}

const shortSpreads = { std: 'std', band: '95 %', range: 'min–max', median: 'median', iqm: 'iqm' };

/** The note on runs that ended before the others; null if that makes no difference. */
function endedPiece(curves: readonly Curve[], look: ChartLook, width: number): Piece | null {
  const allSeries = seriesContextOf(curves, width, look)?.allSeries ?? [];
  if (!allSeries.some(({ seeds }) => seeds?.hasEndedEarly)) return null;
  const word = look.choice.carriesEnded ? 'carried' : 'left out';
  return piece(`ended runs ${word}`, `ended ${word}`, 'faint');
}

/** The note on logarithmic axes chosen for all charts. */
function logPiece({ isLogX, isLogY, ownLogY }: ChartChoice): Piece | null {
  const isLogYOfAll = isLogY === true && Object.keys(ownLogY).length === 0;
  const axes = [...(isLogX ? ['x'] : []), ...(isLogYOfAll ? ['y'] : [])];
  if (axes.length === 0) return null;
  const text = `log ${axes.join(' ')}`;
  return piece(text, text, 'faint');
}

function piece(text: string, short: string, tone: Span['tone']): Piece {
  return { text, short, tone };
}

/** A percentage with as many decimals as a deep zoom needs. */
function percent(fraction: number): string {
  return String(Number((fraction * 100).toFixed(1)));
}

function right(found: readonly Span[]): Line {
  return found.flatMap(({ text, tone }, index) => [...(index > 0 ? [span(' · ', 'faint')] : []), span(text, tone)]);
}

/** `eval/top5/accuracy` → `accuracy`. */
function lastPart(key: string): string {
  return key.split('/').at(-1)!;
}
