import { type Handler, type KeyContext, type OpenedByKey, type Pressed, refuse } from '../keys/key-context.js';
import type { WindowModel } from '../model/window-model.js';
import { menuAt } from '../state/menu-state.js';
import type { UiState } from '../state/ui-state.js';
import type { KeyHint } from '../widgets/key-hints.js';
import { openColumns } from './columns.js';
import type { DialogModule, DialogState } from './dialog-module.js';
import { openFilter } from './filter.js';
import { openGrouping } from './grouping.js';
import { openPalette } from './palette/palette.js';
import { dialogs } from './registry.js';
import { openSweeps } from './sweeps.js';
import { openTypeLine } from './type-line.js';
import { openViews } from './views.js';

/** Handles one key while a dialog is open. */
export function pressInDialog(ui: UiState, dialog: DialogState, key: string, at: KeyContext): Pressed {
  return moduleOf(dialog).press(ui, dialog, key, at);
}

/** How each dialog is opened by its key. */
export const openDialog: Readonly<Record<OpenedByKey, Handler>> = {
  filter: openFilter,
  palette: openPalette,
  metrics: askForMetric,
  'x-axis': askForX,
  chart: (ui) => ({ ui: { ...ui, dialog: { kind: 'chart', index: 0 } } }),
  grouping: openGrouping,
  columns: openColumns,
  views: openViews,
  sweeps: openSweeps,
  type: openTypeLine,
  help: (ui) => ({ ui: { ...ui, dialog: { kind: 'help', top: 0, typed: '' } } }),
};

function askForMetric(ui: UiState, at: KeyContext): Pressed {
  if (at.metrics.length === 0) return refuse(ui, 'No run has written a metric yet.');
  return { ui: { ...ui, dialog: { kind: 'metrics', ...menuAt(at.metrics.indexOf(at.metric ?? '')) } } };
}

function askForX(ui: UiState, at: KeyContext): Pressed {
  const choices = at.xChoices ?? [];
  if (at.charts === 0 || choices.length === 0) {
    return refuse(ui, 'There is no chart to choose an axis for; select a run that has started.');
  }
  const index = choices.findIndex(({ key }) => key === ui.chart.xKey);
  return { ui: { ...ui, dialog: { kind: 'x-axis', ...menuAt(index) } } };
}

/** Footer hints for the keys of the open dialog; null: none is open. */
export function dialogHints(model: WindowModel): readonly KeyHint[] | null {
  const { dialog } = model.ui;
  return dialog.kind === 'none' ? null : moduleOf(dialog).hints(dialog, model);
}

/** The module of a dialog. The registry has the right type for each kind, but the compiler cannot see that the two match. */
export function moduleOf({ kind }: DialogState): DialogModule<DialogState['kind']> {
  return dialogs[kind] as DialogModule<DialogState['kind']>;
}
