import { initialColumns } from '../../state/list-column-id.js';
import type { Handler, Pressed, KeyContext } from '../../keys/key-context.js';
import type { UiState } from '../../state/ui-state.js';
import { type Sort, sortsFor, sortWords } from '../../state/sort.js';

/** The next order: the usual ones, then the columns that were added. */
export const nextSort: Handler = (ui, at) => {
  const sorts = sortsFor(ui.columns ?? initialColumns);
  const by = sorts[(sorts.indexOf(ui.sort.by) + 1) % sorts.length]!;
  return orderedBy(ui, { by, isReversed: false }, at);
};

/** The present order the other way round. */
export const reverseSort: Handler = (ui, at) => orderedBy(ui, { ...ui.sort, isReversed: !ui.sort.isReversed }, at);

export function orderedBy(ui: UiState, sort: Sort, { metric }: KeyContext): Pressed {
  return { ui: { ...ui, sort, note: { text: `Sorted by ${sortWords(sort, metric)}.`, tone: 'dim' } } };
}
