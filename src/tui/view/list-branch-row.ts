import type { RunId } from '../port.js';
import { markState } from './branch-facts.js';
import type { Branch } from './branch-index.js';
import { countsLine } from './counts-line.js';
import { branchCell, percentOf } from './list-cells.js';
import { type ListColumn, type ListLayout, percentWidth } from './list-columns.js';
import { cell, markSign } from './list-row.js';
import { progressBar } from './progress-bar.js';
import { narrowNumber } from '../../text/numbers.js';
import { ends, fit, fitLine, type Line, lineWidth, span } from './span.js';
import type { Tally } from './tally.js';

/** How a group stands in the list. `digit`: the key that jumps to it, or null. */
export type BranchPlace = {
  readonly isFolded: boolean;
  readonly digit: number | null;
  readonly marks: ReadonlySet<RunId>;
};

/** A group or subgroup: its runs in sum. */
export function branchRow(branch: Branch, layout: ListLayout, { isFolded, digit, marks }: BranchPlace): Line {
  const name = [
    span(`${'  '.repeat(branch.depth)}${isFolded ? '▸' : '▾'} `, 'dim'),
    span(digit === null ? '' : `${digit} `, 'faint'),
    span(branch.label, branch.kind === 'group' ? 'title' : 'strong'),
    span(branch.title === null ? '' : `  ${branch.title}`, 'dim'),
  ];
  const { columns } = layout;
  const head = columns.slice(0, headLength(columns));
  const rest = columns.slice(head.length);
  return [markSign(markState(branch, marks)), ...headOf(branch.tally, name, layout.name, head), ...tail(branch, rest)];
}

/** How many columns after the name a group fills with its name, its progress and its counts as it likes. */
function headLength(columns: readonly ListColumn[]): number {
  const end = columns.findIndex(({ id }) => id !== 'progress' && id !== 'left');
  return end < 0 ? columns.length : end;
}

/**
 * Name, progress and counts. The bar stands under that of the other rows where the name leaves it its place; a long title
 * takes that place, for words say more than a bar.
 */
function headOf(tally: Tally, name: Line, nameWidth: number, columns: readonly ListColumn[]): Line {
  const middle = columns.reduce((sum, { width }) => sum + width + 1, 0);
  const counts = countsLine(tally);
  const bar = columns[0]?.id === 'progress' ? columns[0].width - percentWidth - 1 : 0;
  const percent = percentOf(tally.progress).padStart(percentWidth);
  if (lineWidth(name) > nameWidth || bar <= 0) return longNamed(name, percent, counts, nameWidth + middle);
  const room = middle - bar - 2;
  const words = [span(`${percent} `, 'dim'), ...counts];
  const shown = lineWidth(words) <= room ? words : counts;
  if (lineWidth(shown) > room) return longNamed(name, percent, counts, nameWidth + middle);
  return [
    ...fitLine(name, nameWidth),
    span(' '),
    ...progressBar(tally.progress, bar, 'accent'),
    span(' '),
    ...fitLine(shown, room),
  ];
}

/** The counts at the right end, and the percentage before them if the name leaves it room. */
function longNamed(name: Line, percent: string, counts: Line, width: number): Line {
  const numbers = [span(`  ${percent.trim()} `, 'dim'), ...counts];
  const fits = lineWidth(name) + lineWidth(numbers) <= width;
  return ends(name, fits ? numbers : [span(' '), ...counts], width);
}

/** The other columns; the deviation of the metric has the empty ones that follow it. */
function tail(branch: Branch, columns: readonly ListColumn[]): Line {
  const cells = columns.map((column) => branchCell(branch, column));
  const metric = columns.findIndex(({ id }) => id === 'metric');
  const after = metric + 1;
  let end = after;
  while (metric >= 0 && end < columns.length && cells[end] === null) end++;
  const width = columns.slice(after, end).reduce((sum, column) => sum + column.width + 1, 0);
  return columns.flatMap((column, index): Line => {
    if (index === after && width > 0) return [span(fit(` ${deviationText(branch.tally)}`, width), 'dim')];
    return index > after && index < end ? [] : cell(cells[index]!, column);
  });
}

function deviationText({ metric }: Tally): string {
  return metric === null || metric.count < 2 ? '' : `±${shortDeviation(metric.deviation)}`;
}

/** Two digits that count are more than a handful of seeds can tell; one where it is small. */
function shortDeviation(value: number): string {
  if (value >= 100 || value === 0) return narrowNumber(value);
  if (value < 1e-3) return value.toExponential(0);
  return value.toPrecision(value < 0.01 ? 1 : 2);
}
