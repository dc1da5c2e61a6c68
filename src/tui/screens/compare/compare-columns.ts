import { bestOnes } from '../../../analysis/best-first.js';
import { cleanText } from '../../../text/display-text.js';
import { textWidth } from '../../../text/display-width.js';
import type { CompareScreen } from '../../state/ui-state.js';
import { bestCell, deltaCell, fitLineRight, sampleCell } from './compare-cells.js';
import { valuesText, withoutCommon } from './compare-parameters.js';
import { deltaOf, rankedSamples } from './compare-value.js';
import type { ComparedMetric, Comparison } from './comparison.js';
import { sectionRule } from '../../widgets/section.js';
import { narrowNumber } from '../../../text/numbers.js';
import { blank, fit, fitLine, type Line, onBackground, span } from '../../surface/span.js';

const least = 16;
const widest = 26;
const gap = 2;

/** Columns of the table: the visible ones, and their widths. */
type Frame = { name: number; cell: number; from: number; count: number };

/** The subjects beside each other: the fixed heading, and the lines below it that scroll. */
export function columnsTable(
  comparison: Comparison,
  { at }: Pick<CompareScreen, 'at'>,
  width: number,
): { head: Line[]; body: Line[] } {
  const frame = frameOf(comparison, at, width);
  return {
    head: heading(comparison, frame, at),
    body: [...parameterRows(comparison, frame, width), ...metricRows(comparison, frame, width)],
  };
}

function frameOf({ subjects, parameters, metrics }: Comparison, at: number, width: number): Frame {
  const names = [...parameters, ...metrics].map(({ key }) => textWidth(cleanText(key)) + 5);
  const name = Math.max(12, Math.min(Math.floor(width * 0.3), 34, Math.max(0, ...names)));
  const wanted = Math.max(0, ...subjects.map(({ label }) => textWidth(cleanText(label))));
  const fair = Math.floor((width - name) / Math.max(1, subjects.length)) - gap;
  const cell = Math.max(least, Math.min(widest, Math.max(wanted, Math.min(fair, 20))));
  const count = Math.max(1, Math.min(subjects.length, Math.floor((width - name) / (cell + gap))));
  const from = Math.max(0, Math.min(at - count + 1, subjects.length - count));
  return { name, cell, from, count };
}

function heading(comparison: Comparison, frame: Frame, at: number): Line[] {
  const { subjects, baseline } = comparison;
  const names = withoutCommon(
    shown(subjects, frame).map(({ label }) => cleanText(label)),
    frame.cell,
  );
  const labels = names.map((name, index): Line => {
    const cell = fitLineRight([span(name, 'strong')], frame.cell);
    return frame.from + index === at ? onBackground(cell, 'selected') : cell;
  });
  const counts = shown(subjects, frame).map(({ runs }, index): Line => {
    const pinned = frame.from + index === baseline ? [span('baseline · ', 'accent')] : [];
    return [...pinned, span(runs.length === 1 ? '1 run' : `${runs.length} runs`, 'faint')];
  });
  const after = subjects.length - frame.from - frame.count;
  const more = [frame.from > 0 ? `← ${frame.from}` : '', after > 0 ? `${after} →` : ''].filter((part) => part !== '');
  return [
    row([span(more.length === 0 ? '' : ` ${more.join('  ')} more`, 'accent')], labels, frame),
    row([], counts, frame),
  ];
}

function parameterRows({ parameters }: Comparison, frame: Frame, width: number): Line[] {
  if (parameters.length === 0) return [[span('   no parameter differs', 'dim')], blank(width)];
  const rows = parameters.map(({ key, cells }): Line => {
    const words = withoutCommon(
      shown(cells, frame).map((values) => valuesText(values, frame.cell)),
      frame.cell,
    );
    const texts = words.map((text): Line => [span(text, text === '–' ? 'faint' : 'plain')]);
    return row([span(` ${fit(cleanText(key), frame.name - 2)}`, 'dim')], texts, frame);
  });
  return [sectionRule('parameters that differ', [], width), ...rows, blank(width)];
}

function metricRows(comparison: Comparison, frame: Frame, width: number): Line[] {
  const words = summaryWords(comparison);
  const rows = comparison.metrics.flatMap((metric) => metricRow(metric, comparison, frame));
  return [sectionRule('metrics', [span(words, 'accent')], width), ...rows];
}

/** `last`, or `at progress/episodes 12400`. */
export function summaryWords({ summary, cursor, setting }: Pick<Comparison, 'summary' | 'cursor' | 'setting'>): string {
  return summary === 'at cursor' && cursor !== null ? `at ${cleanText(setting.xKey)} ${narrowNumber(cursor)}` : summary;
}

/** The values, and below them their distances from the baseline. */
function metricRow(metric: ComparedMetric, { subjects, baseline }: Comparison, frame: Frame): Line[] {
  const best = bestOnes(rankedSamples(metric.cells), metric.direction, narrowNumber);
  const values = metric.cells.map((sample, index) => {
    const cell = sampleCell(sample, subjects[index]!.runs.length);
    return best.has(index) ? bestCell(cell) : cell;
  });
  const name = metricName(metric, frame.name - 2);
  const first = row([span(` ${name}`, 'plain')], shown(values, frame), frame);
  if (baseline === null) return [first];
  const deltas = metric.cells.map((sample, index) =>
    index === baseline ? [] : deltaCell(deltaOf(sample, metric.cells[baseline] ?? null, metric.direction)),
  );
  return [first, row([span('   to the baseline', 'faint')], shown(deltas, frame), frame)];
}

/** The name with an arrow for the direction, if that is known. A long name keeps its end. */
export function metricName({ key, direction }: Pick<ComparedMetric, 'key' | 'direction'>, width: number): string {
  const arrow = direction === null ? '' : direction === 'maximize' ? ' ↑' : ' ↓';
  const text = cleanText(key);
  const room = width - arrow.length;
  return (text.length <= room ? text : `…${text.slice(text.length - room + 1)}`) + arrow;
}

function shown<T>(items: readonly T[], { from, count }: Frame): readonly T[] {
  return items.slice(from, from + count);
}

function row(name: Line, cells: readonly Line[], frame: Frame): Line {
  const spaced = cells.flatMap((cell) => [span(' '.repeat(gap)), ...fitLineRight(cell, frame.cell)]);
  return [...fitLine(name, frame.name), ...spaced];
}
