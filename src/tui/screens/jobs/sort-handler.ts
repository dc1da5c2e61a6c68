import { initialColumns } from '../../state/list-column-id.js';
import type { Handler, Pressed, KeyContext } from '../../keys/key-context.js';
import type { UiState } from '../../state/ui-state.js';
import { type Sort, sortsFor, sortWords } from '../../state/sort.js';

/** Sorts by the next order: the usual ones, then added columns. */
export const nextSort: Handler = (ui, at) => {
  const sorts = sortsFor(ui.columns ?? initialColumns);
  const by = sorts[(sorts.indexOf(ui.sort.by) + 1) % sorts.length]!;
  return orderedBy(ui, { by, isReversed: false }, at);
};

/** Reverses the present order. */
export const reverseSort: Handler = (ui, at) => orderedBy(ui, { ...ui.sort, isReversed: !ui.sort.isReversed }, at);

export function orderedBy(ui: UiState, sort: Sort, { metric }: KeyContext): Pressed {
  return { ui: { ...ui, sort, note: { text: `Sorted by ${sortWords(sort, metric)}.`, tone: 'dim' } } };
}
