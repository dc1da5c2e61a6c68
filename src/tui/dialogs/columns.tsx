import { cleanText } from '../../text/display-text.js';
import { type KeyContext, type Pressed, refuse } from '../keys/key-context.js';
import { useModel } from '../model/use-model.js';
import { varyingParametersOf } from '../model/varying-parameters.js';
import { orderedBy } from '../screens/jobs/list-handler.js';
import {
  type ColumnId,
  columnKey,
  commonColumns,
  initialColumns,
  knownColumns,
  type Sort,
} from '../state/list-choice.js';
import { menuAt, type MenuState, type UiState } from '../state/ui-state.js';
import type { ColumnWidths } from '../state/preferences-port.js';
import { dialogFrame, nameWidth } from '../widgets/dialog-box.js';
import type { KeyHint } from '../widgets/line-parts.js';
import { Menu } from '../widgets/select-list.js';
import { widened } from '../widgets/run-list/list-columns.js';
import { fit, type Line, span } from '../surface/span.js';
import { closedDialog, type DialogModule, type DialogOf, type DialogProps } from './dialog-module.js';
import { chosenOf, type Choices, matchesOf, menuHints, pressInMenu, refuseNothing, unfiltered } from './menu-dialog.js';

type ColumnsDialog = DialogOf<'columns'>;

/** `order`: all available columns in the order of the dialog; shown columns keep this order. */
declare module '../state/ui-state.js' {
  interface Dialogs {
    readonly columns: { readonly order: readonly ColumnId[] } & MenuState;
  }
}

/** Chooses the columns of the list and their order. */
export const columns: DialogModule<'columns'> = { open, press, hints, Dialog: ColumnsBox };

/** Opens the dialog of columns: the current columns first, then all others. */
function open(ui: UiState, at: KeyContext): Pressed {
  const shown = ui.columns ?? initialColumns;
  const order = [...new Set([...shown, ...allColumns(at)])];
  return { ui: { ...ui, screen: { kind: 'jobs' }, dialog: { kind: 'columns', ...menuAt(0), order } } };
}

/** The available columns: the usual ones, parameters that vary, planned ones first, and every metric but the chosen one, which has its own column. */
function allColumns(at: KeyContext): ColumnId[] {
  const declared = varyingParametersOf(at.runs.map(({ declared: parameters = {} }) => ({ parameters })));
  const varying = [...(at.varyingParameters?.().keys() ?? []), ...declared.keys()];
  const parameters = varying.map((key): ColumnId => `parameter ${key}`);
  const ofMetrics = at.metrics.map((key): ColumnId => `metric ${key}`);
  return [...commonColumns, ...parameters, ...ofMetrics];
}

function choicesOf(order: readonly ColumnId[], metric: string | null): Choices<ColumnId> {
  return { items: order, textOf: (column) => columnWords(column, metric) };
}

function hints(dialog: ColumnsDialog): readonly KeyHint[] {
  const toggle: KeyHint = ['Space', 'show or hide'];
  if (dialog.typed !== '') return menuHints(dialog, toggle, ['Ctrl-S', 'sort']);
  return menuHints(dialog, toggle, ['←→', 'move the column'], ['Ctrl-S', 'sort, reverse'], ['< >', 'width']);
}

function press(ui: UiState, dialog: ColumnsDialog, key: string, at: KeyContext): Pressed {
  const choices = choicesOf(dialog.order, at.metric);
  const column = chosenOf(choices, dialog);
  if (key === 'enter' && dialog.typed === '') return { ui: closedDialog(ui) };
  if (key !== 'enter' && !(key in ownKeys)) return pressInMenu(ui, dialog, key, { choices, at, usage });
  if (column === undefined) return refuseNothing(ui, dialog);
  // After typing a name, Enter toggles that column and shows it among the others.
  if (key === 'enter') return toggle({ ...ui, dialog: unfiltered(dialog, choices) }, dialog, column);
  return ownKeys[key]!(ui, dialog, column, at);
}

const usage =
  'Space shows or hides the column, ← → move it, < > make it narrower and wider, = all as usual, Ctrl-S sorts by it, typing finds one, Esc closes.';

type OnColumn = (ui: UiState, dialog: ColumnsDialog, column: ColumnId, at: KeyContext) => Pressed;

/** Keys of this dialog. Letters are not used, because they search for a column. */
const ownKeys: Readonly<Record<string, OnColumn>> = {
  space: toggle,
  left: (ui, dialog) => shift(ui, dialog, -1),
  right: (ui, dialog) => shift(ui, dialog, 1),
  'ctrl-s': orderBy,
  '<': (ui, _, column, at) => resize(ui, column, -1, at),
  '>': (ui, _, column, at) => resize(ui, column, 1, at),
  '=': (ui) => ({ ui: withWidths(ui, {}) }),
};

function toggle(ui: UiState, { order }: ColumnsDialog, column: ColumnId): Pressed {
  const shown = new Set<ColumnId>(ui.columns ?? initialColumns);
  if (!shown.delete(column)) shown.add(column);
  return { ui: { ...ui, columns: columnsOf(order, shown) } };
}

/** Moves a column; the cursor stays on it. */
function shift(ui: UiState, dialog: ColumnsDialog, by: -1 | 1): Pressed {
  const { order, index, typed } = dialog;
  if (typed !== '') return refuse(ui, 'Columns move among all of them: Esc shows all first.');
  const to = index + by;
  if (to < 0 || to >= order.length) return refuse(ui, by < 0 ? 'It is the first column.' : 'It is the last column.');
  const moved = [...order];
  [moved[index], moved[to]] = [order[to]!, order[index]!];
  const shown = columnsOf(moved, new Set(ui.columns ?? initialColumns));
  return { ui: { ...ui, columns: shown, dialog: { ...dialog, order: moved, index: to } } };
}

/** Makes a column narrower or wider, at the gain or the expense of the names. */
function resize(ui: UiState, column: ColumnId, by: -1 | 1, at: KeyContext): Pressed {
  const layout = at.listLayout?.() ?? null;
  const before = layout?.columns.find(({ id }) => id === column);
  if (layout === null || before === undefined) return refuse(ui, 'This column is not shown; Space shows it.');
  const widths = widened(layout, column, by);
  if (widths[column] !== before.width) return { ui: withWidths(ui, widths) };
  return refuse(ui, by > 0 ? 'The names need the rest of the width.' : 'It cannot be narrower.');
}

function withWidths(ui: UiState, columns: ColumnWidths): UiState {
  return { ...ui, panes: { ...ui.panes, columns } };
}

function columnsOf(order: readonly ColumnId[], shown: ReadonlySet<ColumnId>): readonly ColumnId[] | null {
  return knownColumns(order.filter((column) => shown.has(column)));
}

function orderBy(ui: UiState, _: ColumnsDialog, column: ColumnId, at: KeyContext): Pressed {
  if (column === 'trend') return refuse(ui, 'Runs cannot be sorted by their trend.');
  return orderedBy(ui, { by: column, isReversed: ui.sort.by === column && !ui.sort.isReversed }, at);
}

/** The title of a column in the dialog. `metric`: the chosen one. */
function columnWords(column: ColumnId, metric: string | null): string {
  if (column === 'metric') return metric === null ? 'metric' : `metric (${metric})`;
  return columnKey(column)?.key ?? column;
}

/** Every available column, with a mark if it is shown and its kind. */
function ColumnsBox({ dialog, size }: DialogProps<'columns'>) {
  const metric = useModel((model) => model.metric);
  const sort = useModel(({ ui }) => ui.sort);
  const shown = new Set<ColumnId>(useModel(({ ui }) => ui.columns) ?? initialColumns);
  const choices = choicesOf(dialog.order, metric);
  const width = nameWidth(dialog.order.map(choices.textOf), size.width - dialogFrame - besideName);
  return (
    <Menu
      title="columns"
      screen={size}
      menu={dialog}
      items={dialog.order}
      matches={matchesOf(choices, dialog)}
      line={(column) => lineOf(column, choices.textOf(column), { isShown: shown.has(column), sort, width })}
      clickKey="space"
    />
  );
}

/** Columns of a row besides its name. */
const besideName = 16;

type Look = { readonly isShown: boolean; readonly sort: Sort; readonly width: number };

function lineOf(column: ColumnId, words: string, { isShown, sort, width }: Look): Line {
  const arrow = sort.by !== column ? '' : sort.isReversed ? '↑' : '↓';
  return [
    span(isShown ? ' ✓ ' : '   ', 'good'),
    span(fit(cleanText(words), width), isShown ? 'strong' : 'plain'),
    span(fit(` ${arrow}`, 3), 'accent'),
    span(fit(columnKey(column)?.kind ?? '', 10), 'dim'),
  ];
}
