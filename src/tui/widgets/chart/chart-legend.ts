import type { ChartChoice, Spread } from '../../state/chart-choice.js';
import { Memo } from '../../../base/memo.js';
import { cursorX, lastReading, type Reading, readingAt } from './chart-cursor.js';
import { type ChartLook, type Curve, lookKey, type XUnit } from './chart-look.js';
import { strandingOf } from './chart-plot.js';
import type { ChartSeries } from './chart-series.js';
import { flow } from '../parameters.js';
import { narrowNumber } from '../../../text/numbers.js';
import { type Line, span } from '../span.js';
import { exactSeconds, exactTime } from './time-ticks.js';

/** What the colours mean and the last values of the lines, or those at the cursor; one entry per label, at most `height` lines. Computed once. */
export function legendLines(curves: readonly Curve[], look: ChartLook, width: number, height: number): Line[] {
  if (height <= 0) return [];
  const question = `${width} ${height} ${look.choice.cursor} ${lookKey(look)}`;
  return legends.value(curves, question, () => readOff(curves, look, width, height));
}

const legends = new Memo<readonly Curve[], Line[]>(2);

function readOff(curves: readonly Curve[], look: ChartLook, width: number, height: number): Line[] {
  const strands = strandingOf(curves, width, look)?.strands ?? [];
  const { choice } = look;
  const x = cursorX(curves, choice);
  const entries = entriesOf(strands, x !== null).map(({ strand, others }): Line => {
    const readings = [strand, ...others].map((one) => (x === null ? lastReading(one) : readingAt(one, x)));
    return [
      span('━ ', strand.tone),
      span(strand.label === '' ? '' : `${strand.label} `, 'plain'),
      ...(strand.seeds === null ? single(readings) : together(readings[0] ?? null, choice.spread)),
    ];
  });
  const place: Line[] = x === null ? [] : [[span('x = ', 'dim'), span(`${xText(x, look.xUnit)} │`, 'strong')]];
  return flow([...place, ...entries], width, height);
}

type Entry = { strand: ChartSeries; others: ChartSeries[] };

/** Curves of one label have one colour and one entry. What has no name is in the legend only to be read off. */
function entriesOf(strands: readonly ChartSeries[], withNameless: boolean): Entry[] {
  const entries = new Map<string, Entry>();
  for (const strand of strands) {
    if (strand.label === '' && (!withNameless || strand.tone === 'faint')) continue;
    const entry = entries.get(strand.label);
    if (entry === undefined) entries.set(strand.label, { strand, others: [] });
    else entry.others.push(strand);
  }
  return [...entries.values()];
}

function single(readings: readonly (Reading | null)[]): Line {
  const known = readings.flatMap((reading) => (reading === null ? [] : [reading.value]));
  if (known.length === 0) return [span('–', 'dim')];
  return [span(narrowNumber(known.reduce((sum, value) => sum + value, 0) / known.length), 'value')];
}

function together(reading: Reading | null, spread: Spread): Line {
  if (reading === null) return [span('–', 'dim')];
  const { value, low, high, runs } = reading;
  const number = span(narrowNumber(value), 'value');
  const count = span(`n=${runs} `, 'dim');
  if (Number.isNaN(low)) return [count, number];
  const band =
    spread === 'iqm' ? ` [${narrowNumber(low)}–${narrowNumber(high)}]` : ` ±${narrowNumber((high - low) / 2)}`;
  return [count, number, span(band, 'dim')];
}

function xText(x: number, unit: XUnit): string {
  if (unit === 'clock') return exactTime(x);
  return unit === 'seconds' ? exactSeconds(x) : narrowNumber(Math.abs(x) >= 1000 ? Math.round(x) : x);
}

/** Names of what stands for the seeds, for headings. */
export const spreadNames: Record<ChartChoice['spread'], string> = {
  each: 'each seed',
  std: 'mean ± std',
  band: 'mean, 95 % band',
  iqm: 'IQM, quartiles',
};
