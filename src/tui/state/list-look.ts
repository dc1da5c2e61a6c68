import { columnKey, initialGrouping, initialSort, isColumnId, isSameLevel } from './list-choice.js';
import type { RunSummary } from './port.js';
import type { SavedView } from './preferences-port.js';
import type { UiState } from './ui-state.js';

/** The part of the window's state that makes a view: how the list looks, not the position in it. */
export type ListLook = Omit<SavedView, 'name'>;

/** The look of the list according to the sweep file. */
export const plainLook: ListLook = {
  filter: '',
  grouping: initialGrouping,
  sort: initialSort,
  metric: null,
  columns: null,
};

export function lookOf({ filter, grouping, sort, metric, columns }: UiState): ListLook {
  return { filter, grouping, sort, metric, columns };
}

/** Applies a look to the state. Columns that this program does not know are left out. */
export function withLook(ui: UiState, { filter, grouping, sort, metric, columns }: ListLook): UiState {
  return { ...ui, filter, grouping, sort, metric, columns: columns === null ? null : columns.filter(isColumnId) };
}

export function isSameLook(a: ListLook, b: ListLook): boolean {
  return JSON.stringify(lookPart(a)) === JSON.stringify(lookPart(b));
}

/** The parts of a look alone, in a fixed order, for comparison. */
function lookPart({ filter, grouping, sort, metric, columns }: ListLook): unknown {
  return [filter, grouping, sort.by, sort.isReversed, metric, columns];
}

/** Adapts an earlier look to these runs: drops groupings, orders and columns by a parameter that none of them has. */
export function fittingLook(look: ListLook, runs: readonly RunSummary[]): ListLook {
  const isKnown = (key: string): boolean => runs.some(({ parameters }) => Object.hasOwn(parameters, key));
  const fits = (column: string): boolean => {
    const key = isColumnId(column) ? columnKey(column) : null;
    return key?.kind !== 'parameter' || isKnown(key.key);
  };
  const areLevels = look.grouping.every((by) => by.kind !== 'parameter' || isKnown(by.key));
  const isTwice = isSameLevel(look.grouping[0], look.grouping[1]);
  return {
    ...look,
    grouping: areLevels && !isTwice ? look.grouping : initialGrouping,
    sort: fits(look.sort.by) ? look.sort : initialSort,
    columns: look.columns?.filter(fits) ?? null,
  };
}
