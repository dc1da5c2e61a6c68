import { notFiniteText } from '../../../analysis/seed-statistics.js';
import type { Delta, Sample } from './compare-value.js';
import { cleanText } from '../../../text/display-text.js';
import { narrowNumber } from '../../../text/numbers.js';
import { type Line, span, type Tone } from '../../surface/span.js';
import type { ComparedMetric } from './comparison.js';

/** Numbers of runs of a cell: not read yet; and not as far as the others, which a star marks. */
type Waiting = { readonly unread: number; readonly behind: number };

const none: Waiting = { unread: 0, behind: 0 };

/**
 * `9.310 ±0.12 n2`, `0.0059 · 4 NaN`, or `0.02…9.31` if it is not known which end is best. `runs`: number of runs that could have a
 * value.
 */
export function sampleCell(sample: Sample | null, runs: number, waiting = none): Line {
  if (sample === null) return [waiting.unread > 0 ? span('not read yet', 'warn') : span('–', 'faint')];
  const others = notFiniteText(sample);
  if (sample.count === 0) return [span(runs === 1 ? others.replace(/^1 /, '') : others, 'bad')];
  const few = [
    ...runWords(sample, runs, waiting),
    ...(others === '' ? [] : [span(' · ', 'faint'), span(others, 'bad')]),
  ];
  if (sample.kind === 'range') {
    return [span(`${narrowNumber(sample.low)}…${narrowNumber(sample.high)}`, 'value'), ...few];
  }
  const spread = sample.count > 1 ? [span(` ±${roughNumber(sample.deviation)}`, 'dim')] : [];
  return [span(narrowNumber(sample.mean), 'value'), ...spread, ...few];
}

/** Which runs the value is of, where it is not all of them, or where they are not equally far. */
function runWords({ count, nan, infinite }: Sample, runs: number, { unread, behind }: Waiting): Line {
  return [
    ...(behind > 0 ? [span('*', 'warn')] : []),
    ...(count + nan + infinite < runs ? [span(` n${count}`, 'faint')] : []),
    ...(unread > 0 ? [span(` ${unread} unread`, 'warn')] : []),
  ];
}

/** The best cell of a row or column, also marked with a sign. */
export function bestCell(cell: Line): Line {
  const [value, ...rest] = cell;
  return value === undefined ? cell : [span('● ', 'good'), { ...value, tone: 'good' }, ...rest];
}

const verdictTones: Record<Delta['verdict'], Tone> = { better: 'good', worse: 'bad', same: 'dim', unknown: 'plain' };

/** `+0.520 +5.6%`; coloured only if the sweep names a direction. */
export function deltaCell(delta: Delta | null): Line {
  if (delta === null) return [];
  if (delta.absolute === 0) return [span('same', 'dim')];
  const tone = verdictTones[delta.verdict];
  const percent =
    delta.percent === null ? [] : [span(` ${percentText(delta.percent)}`, tone === 'plain' ? 'dim' : tone)];
  return [span(signed(delta.absolute, roughNumber), tone), ...percent];
}

function percentText(percent: number): string {
  if (Math.abs(percent) >= 1000) return `×${narrowNumber(1 + percent / 100)}`;
  if (Math.abs(percent) < 0.05) return '~0%';
  return `${signed(percent, (size) => (size < 10 ? size.toFixed(1) : size.toFixed(0)))}%`;
}

function signed(value: number, text: (size: number) => string): string {
  return (value < 0 ? '-' : '+') + text(Math.abs(value));
}

/** Three significant digits, the precision of a deviation or a difference. */
function roughNumber(value: number): string {
  const size = Math.abs(value);
  if (!Number.isFinite(value) || size < 1e-3 || size >= 1000) return narrowNumber(value);
  return String(Number(value.toPrecision(3)));
}

/** The name with an arrow for the direction, if that is known. A long name keeps its end. */
export function metricName({ key, direction }: Pick<ComparedMetric, 'key' | 'direction'>, width: number): string {
  const arrow = direction === null ? '' : direction === 'maximize' ? ' ↑' : ' ↓';
  const text = cleanText(key);
  const room = width - arrow.length;
  return (text.length <= room ? text : `…${text.slice(text.length - room + 1)}`) + arrow;
}
