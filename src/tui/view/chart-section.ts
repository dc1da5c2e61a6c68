import { chart, type Curve } from './chart.js';
import { flow } from './parameters.js';
import { sectionRule } from './section.js';
import { shortNumber } from './short-number.js';
import { fit, type Line, span } from './span.js';
import { type ChartData } from './window-model.js';

/** Room for a chart. `legend`: rows below it, if they must be as many as those of its neighbours. */
export type ChartRoom = { readonly width: number; readonly height: number; readonly legend?: number };

/** A heading, the curves of one metric, and below them the legend: exactly `height` lines. */
export function chartSection(
  { metric, curves }: ChartData,
  detail: { xKey: string; isLoaded: boolean },
  { width, height, legend }: ChartRoom,
): Line[] {
  const entries = legendLines(curves, width, legend ?? mostLegend(height));
  const legendRows = Array.from({ length: legend ?? entries.length }, (_, row) => entries[row] ?? []);
  const nothing = detail.isLoaded ? `no values of ${metric} yet` : 'reading…';
  return [
    sectionRule(fit(metric, Math.min(metric.length, width - 16)), [span(detail.xKey, 'faint')], width),
    ...chart(curves, width, height - 1 - legendRows.length, nothing),
    ...legendRows,
  ];
}

/** Rows the legends need, the same for all charts beside each other. */
export function sharedLegend(charts: readonly ChartData[], width: number, height: number): number {
  return Math.max(0, ...charts.map(({ curves }) => legendLines(curves, width, mostLegend(height)).length));
}

function mostLegend(height: number): number {
  return Math.max(0, Math.min(3, Math.floor(height / 5)));
}

/** One entry per label: curves of one label have one colour. */
function legendLines(curves: readonly Curve[], width: number, height: number): Line[] {
  const entries = new Map<string, { curve: Curve; last: number[] }>();
  for (const curve of curves) {
    if (curve.label === '') continue;
    const entry = entries.get(curve.label) ?? { curve, last: [] };
    entry.last.push(lastValue(curve));
    entries.set(curve.label, entry);
  }
  const pieces = [...entries.values()].map(({ curve, last }): Line => [
    span('━ ', curve.tone),
    span(`${curve.label} `, 'plain'),
    span(Number.isNaN(mean(last)) ? '' : shortNumber(mean(last)), 'value'),
  ]);
  return height === 0 ? [] : flow(pieces, width, height);
}

function lastValue({ series }: Curve): number {
  const index = series.y.findLastIndex(Number.isFinite);
  return index < 0 ? Number.NaN : series.y[index]!;
}

function mean(values: readonly number[]): number {
  const known = values.filter(Number.isFinite);
  return known.length === 0 ? Number.NaN : known.reduce((sum, value) => sum + value, 0) / known.length;
}
