import { emptyLines, hasMetrics } from '../../../metrics/describe-sources.js';
import type { ChartData, Curve, Detail } from '../../model/curves/chart-data.js';
import { chartHeading } from './chart-heading.js';
import { legendLines } from './chart-legend.js';
import { type ChartLook, plainLook } from './chart-look.js';
import { chart } from './chart.js';
import { metricsReportWithin } from '../metrics-report.js';
import type { Line } from '../../surface/span.js';

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
