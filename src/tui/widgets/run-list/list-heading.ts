import { textWidth } from '../../../text/display-width.js';
import { countText } from '../../../text/numbers.js';
import { type ColumnId, columnKey, isInitialSort, type Sort, type SortBy } from '../../state/list-choice.js';
import { shortKey } from '../line-parts.js';
import { ends, fit, fitRight, type Line, span } from '../../surface/span.js';
import { gutter, type ListColumn, type ListLayout } from './list-columns.js';

/** Position of the selection among the rows, counted from 1. */
type ListPosition = { readonly at: number; readonly of: number };

/**
 * The headings of the columns; the one that runs are sorted by is highlighted and has an arrow. An order without a column here is
 * named beside the names. `position`: null if all rows are visible.
 */
export function listHeading({ name, columns }: ListLayout, sort: Sort, position: ListPosition | null): Line {
  const arrow = sort.isReversed ? '↑' : '↓';
  const isElsewhere = columns.some(({ id }) => id === sort.by);
  const order = isElsewhere || isInitialSort(sort) ? null : sort.by === 'name' ? ` ${arrow}` : beside(sort.by, arrow);
  const words = span(`   run${order ?? ''}`, order === null ? 'faint' : 'accent');
  const place = position === null ? [] : [span(` ${countText(position.at)}/${countText(position.of)}`, 'dim')];
  return [
    ...ends([words], place, gutter + name),
    ...columns.flatMap((column) => [span(' '), word(column, sort, arrow)]),
  ];
}

function beside(by: SortBy, arrow: string): string {
  return ` · ${shortKey(columnKey(by as ColumnId)?.key ?? by)} ${arrow}`;
}

/** A heading, cut if there is no room left for the arrow. */
function word({ id, heading, width, isRight }: ListColumn, sort: Sort, arrow: string): Line[number] {
  const isOrdered = id === sort.by;
  const cut = textWidth(heading) < width ? heading : fit(heading, width - 1);
  const text = isOrdered ? `${cut}${arrow}` : heading;
  return span(isRight ? fitRight(text, width) : fit(text, width), isOrdered ? 'accent' : 'faint');
}

/** The order chosen by a click on the heading at a column of the screen; null: none. */
export function sortAt({ name, columns }: ListLayout, at: number): SortBy | null {
  let end = gutter + name;
  if (at < end) return 'name';
  for (const { id, width } of columns) {
    // The space before a column is its left edge, which is dragged.
    if (at === end) return null;
    end += width + 1;
    if (at < end) return id === 'trend' ? null : id;
  }
  return null;
}
