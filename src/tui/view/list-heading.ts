import type { ListColumn, ListLayout } from './list-columns.js';
import { textWidth } from '../../text/display-width.js';
import { fit, fitRight, type Line, span } from './span.js';
import type { Sort } from './sort.js';

/** The words above the columns; the one the runs are ordered by stands out, with an arrow where it has room. */
export function listHeading({ name, columns }: ListLayout, sort: Sort): Line {
  const arrow = sort.isReversed ? '↑' : '↓';
  const byName = sort.by === 'name';
  const first = span(fit(`   run${byName ? ` ${arrow}` : ''}`, name + 1), byName ? 'accent' : 'faint');
  return [first, ...columns.flatMap((column) => [span(' '), word(column, sort, arrow)])];
}

function word({ id, heading, width, isRight }: ListColumn, sort: Sort, arrow: string): Line[number] {
  const isOrdered = id === sort.by;
  const text = isOrdered && textWidth(heading) < width ? `${heading}${arrow}` : heading;
  return span(isRight ? fitRight(text, width) : fit(text, width), isOrdered ? 'accent' : 'faint');
}
