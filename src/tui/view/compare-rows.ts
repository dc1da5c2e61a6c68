import { cleanText } from '../../text/display-text.js';
import { textWidth } from '../../text/display-width.js';
import type { CompareScreen } from '../ui-state.js';
import { deltaCell, fitLineRight, sampleCell } from './compare-cells.js';
import { valuesText } from './compare-parameters.js';
import { deltaOf } from './compare-value.js';
import type { Comparison } from './comparison.js';
import { shortKey } from './short-key.js';
import { fit, fitLine, type Line, lineWidth, onBackground, span } from './span.js';

const gap = 2;
const longestName = 36;

/** `cell`: of the thing compared that has this position. */
type Column = { readonly title: string; readonly cell: (index: number) => Line };

/** One row for each thing compared; only those that are seen are drawn. `height`: of heading and rows together. */
export function rowsTable(
  comparison: Comparison,
  { at, left }: Pick<CompareScreen, 'at' | 'left'>,
  { width, height }: { width: number; height: number },
): Line[] {
  const { subjects, baseline } = comparison;
  const room = Math.max(1, height - 1);
  const top = Math.max(0, Math.min(at - (room >> 1), subjects.length - room));
  const indexes = subjects.slice(top, top + room).map((_, index) => top + index);
  const name = nameWidth(comparison, indexes, width);
  const { columns, widths } = fitting(columnsOf(comparison).slice(left), indexes, width - name);
  const after = columnCount(comparison) - left - columns.length;
  const more = [left > 0 ? `← ${left}` : '', after > 0 ? `${after} →` : ''].filter((part) => part !== '').join('  ');
  const head = columns.flatMap(({ title }, index) => spaced([span(title, 'faint')], widths[index]!));
  const rows = indexes.map((index): Line => {
    const mark = index === baseline ? span('▸ ', 'accent') : span('  ');
    const label = [span(' '), mark, span(cleanText(subjects[index]!.label), index === baseline ? 'strong' : 'plain')];
    const cells = columns.flatMap(({ cell }, place) => spaced(cell(index), widths[place]!));
    const line = fitLine([...fitLine(label, name), ...cells], width);
    return index === at ? onBackground(line, 'selected') : line;
  });
  return [fitLine([...fitLine([span(more === '' ? '' : `   ${more} more`, 'accent')], name), ...head], width), ...rows];
}

/** How many columns there are to scroll through. */
export function columnCount(comparison: Comparison): number {
  return columnsOf(comparison).length;
}

function nameWidth({ subjects }: Comparison, indexes: readonly number[], width: number): number {
  const widest = Math.max(0, ...indexes.map((index) => textWidth(cleanText(subjects[index]!.label))));
  return Math.min(widest, longestName, Math.floor(width * 0.4)) + 3;
}

function columnsOf({ subjects, parameters, metrics, baseline }: Comparison): Column[] {
  const runs: Column = { title: 'runs', cell: (index) => [span(String(subjects[index]!.runs.length), 'dim')] };
  const settings = parameters.map(({ key, cells }): Column => {
    return { title: cleanText(key), cell: (index) => [span(valuesText(cells[index]!, 14))] };
  });
  const values = metrics.flatMap(({ key, cells, direction }): Column[] => {
    const title = cleanText(shortKey(key));
    const value: Column = { title, cell: (index) => sampleCell(cells[index]!, subjects[index]!.runs.length) };
    if (baseline === null) return [value];
    const base = cells[baseline] ?? null;
    const delta = (index: number): Line =>
      index === baseline ? [] : deltaCell(deltaOf(cells[index]!, base, direction));
    return [value, { title: 'to baseline', cell: delta }];
  });
  return [...(subjects.some((subject) => subject.runs.length > 1) ? [runs] : []), ...settings, ...values];
}

/** As many columns as fit, each as wide as what is seen of it; the first in any case. */
function fitting(
  columns: readonly Column[],
  indexes: readonly number[],
  room: number,
): { columns: Column[]; widths: number[] } {
  const fitted: Column[] = [];
  const widths: number[] = [];
  let used = 0;
  for (const column of columns) {
    const most = Math.max(6, textWidth(column.title), ...indexes.map((index) => lineWidth(column.cell(index))));
    const width = Math.min(most, 24);
    if (fitted.length > 0 && used + gap + width > room) break;
    used += gap + width;
    fitted.push(column);
    widths.push(width);
  }
  return { columns: fitted, widths };
}

function spaced(cell: Line, width: number): Line {
  const [only] = cell;
  const cut =
    cell.length === 1 && only !== undefined
      ? [{ ...only, text: fit(only.text, Math.min(textWidth(only.text), width)) }]
      : cell;
  return [span(' '.repeat(gap)), ...fitLineRight(cut, width)];
}
