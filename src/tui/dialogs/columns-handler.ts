import { type ColumnId, columnKey, commonColumns, initialColumns } from '../state/list-column-id.js';
import type { ListDialog } from '../state/list-dialog.js';
import { commandFor } from '../app/key-map.js';
import { closedDialog, moveIn } from '../screens/jobs/in-list-handler.js';
import { orderedBy } from '../screens/jobs/sort-handler.js';
import { type Handler, type Pressed, refuse, type KeyContext } from '../app/key-context.js';
import type { UiState } from '../state/ui-state.js';

type ColumnsDialog = Extract<ListDialog, { kind: 'columns' }>;

/** Asks which columns the list has: first those it has now, then all others. */
export const openColumns: Handler = (ui, at) => {
  const shown = ui.columns ?? initialColumns;
  const order = [...new Set([...shown, ...allColumns(at)])];
  return { ui: { ...ui, screen: { kind: 'jobs' }, dialog: { kind: 'columns', index: 0, order } } };
};

/** Space shows or hides, left and right move the column to its side, the key of the order orders by it; Enter closes. */
export function pressInColumns(ui: UiState, dialog: ColumnsDialog, key: string, at: KeyContext): Pressed {
  const command = commandFor(key, ui.keys);
  const moved = moveIn(ui, dialog, command, { count: dialog.order.length, page: at.page });
  if (moved !== null) return moved;
  switch (command) {
    case 'mark':
      return toggle(ui, dialog);
    case 'fold':
      return shift(ui, dialog, -1);
    case 'unfold':
      return shift(ui, dialog, 1);
    case 'sort':
      return orderBy(ui, dialog, at);
    case 'open':
    case 'back':
    case 'columns':
      return { ui: closedDialog(ui) };
    default:
      return refuse(ui, 'Space shows or hides the column, ← → move it, Enter closes.');
  }
}

/** What there can be: the usual columns, the parameters that vary, and every metric but the chosen one's own column. */
function allColumns(at: KeyContext): ColumnId[] {
  const parameters = [...(at.variety?.().keys() ?? [])].map((key): ColumnId => `parameter ${key}`);
  const metrics = at.metrics.map((key): ColumnId => `metric ${key}`);
  return [...commonColumns, ...parameters, ...metrics];
}

function toggle(ui: UiState, { order, index }: ColumnsDialog): Pressed {
  const column = order[index]!;
  const shown = new Set<ColumnId>(ui.columns ?? initialColumns);
  if (!shown.delete(column)) shown.add(column);
  return { ui: { ...ui, columns: columnsOf(order, shown) } };
}

/** The cursor stays on the column that moves. */
function shift(ui: UiState, dialog: ColumnsDialog, by: -1 | 1): Pressed {
  const { order, index } = dialog;
  const to = index + by;
  if (to < 0 || to >= order.length) return refuse(ui, by < 0 ? 'It is the first column.' : 'It is the last column.');
  const moved = [...order];
  [moved[index], moved[to]] = [order[to]!, order[index]!];
  const columns = columnsOf(moved, new Set(ui.columns ?? initialColumns));
  return { ui: { ...ui, columns, dialog: { ...dialog, order: moved, index: to } } };
}

/** Null for the usual columns, so that they follow what a later version shows. */
function columnsOf(order: readonly ColumnId[], shown: ReadonlySet<ColumnId>): readonly ColumnId[] | null {
  const columns = order.filter((column) => shown.has(column));
  const isUsual =
    columns.length === initialColumns.length && columns.every((column, at) => column === initialColumns[at]);
  return isUsual ? null : columns;
}

function orderBy(ui: UiState, { order, index }: ColumnsDialog, at: KeyContext): Pressed {
  const column = order[index]!;
  if (column === 'trend') return refuse(ui, 'Runs cannot be sorted by their trend.');
  return orderedBy(ui, { by: column, isReversed: ui.sort.by === column && !ui.sort.isReversed }, at);
}

/** What a column is called where a person chooses it. `metric`: the chosen one. */
export function columnWords(column: ColumnId, metric: string | null): string {
  if (column === 'metric') return metric === null ? 'metric' : `metric (${metric})`;
  return columnKey(column)?.key ?? column;
}
