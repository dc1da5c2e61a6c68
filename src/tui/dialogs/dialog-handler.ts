import { openFilter, pressInFilter } from './filter-handler.js';
import { pressInAxes } from '../screens/compare/axes-handler.js';
import {
  distance,
  type Handler,
  isMovement,
  type KeyContext,
  type OpenedByKey,
  type Pressed,
  refuse,
} from '../app/key-context.js';
import { commandFor } from '../app/key-map.js';
import { pressInSearch } from '../screens/run/log-handler.js';
import { helpLines } from './dialogs.js';
import { openColumns, pressInColumns } from './columns-handler.js';
import { openGrouping, pressInGrouping } from './grouping-handler.js';
import { openPalette, pressInPalette } from './palette-handler.js';
import { openViews, pressInViews } from './views-handler.js';
import { askForX, pressInX } from './x-axis-handler.js';
import type { Dialog, UiState } from '../state/ui-state.js';

type OpenDialog = Exclude<Dialog, { kind: 'none' }>;
type Of<Kind extends OpenDialog['kind']> = Extract<OpenDialog, { kind: Kind }>;

/** One key while a dialog is open. */
export function pressInDialog(ui: UiState, dialog: OpenDialog, key: string, at: KeyContext): Pressed {
  // The table holds for each kind what takes a dialog of that kind.
  const pressIn = pressInKind[dialog.kind] as PressIn<OpenDialog>;
  return pressIn(ui, dialog, key, at);
}

type PressIn<Open> = (ui: UiState, dialog: Open, key: string, at: KeyContext) => Pressed;

const pressInKind: { readonly [Kind in OpenDialog['kind']]: PressIn<Of<Kind>> } = {
  filter: pressInFilter,
  search: pressInSearch,
  draft: pressInDraft,
  palette: pressInPalette,
  confirm: pressInConfirm,
  metrics: pressInMetrics,
  'x-axis': (ui, { index }, key, at) => pressInX(ui, index, key, at),
  axes: pressInAxes,
  grouping: pressInGrouping,
  columns: pressInColumns,
  views: pressInViews,
  help: (ui, dialog, key, at) =>
    pressInText(ui, dialog, key, { length: helpLines(ui.screen.kind, ui.keys).length, page: at.page }),
  table: (ui, dialog, key, at) => pressInText(ui, dialog, key, { length: at.tableLength ?? 0, page: at.page }),
};

/** The dialogs that a key opens. */
export const openDialog: Readonly<Record<OpenedByKey, Handler>> = {
  filter: openFilter,
  palette: openPalette,
  metrics: askForMetric,
  'x-axis': askForX,
  grouping: openGrouping,
  columns: openColumns,
  views: openViews,
  help: (ui) => ({ ui: { ...ui, dialog: { kind: 'help', top: 0 } } }),
  table: (ui) => ({ ui: { ...ui, dialog: { kind: 'table', top: 0 } } }),
};

function closed(ui: UiState): UiState {
  return { ...ui, dialog: { kind: 'none' } };
}

function pressInConfirm(ui: UiState, { key: asked, order }: Of<'confirm'>, key: string): Pressed {
  if (key === asked) return { ui: closed(ui), order };
  return {
    ui: {
      ...closed(ui),
      note: { text: `Cancelled; nothing was ${order.type === 'kill' ? 'killed' : 'done'}.`, tone: 'dim' },
    },
  };
}

function askForMetric(ui: UiState, at: KeyContext): Pressed {
  if (at.metrics.length === 0) return refuse(ui, 'No run has written a metric yet.');
  const index = Math.max(0, at.metrics.indexOf(at.metric ?? ''));
  return { ui: { ...ui, dialog: { kind: 'metrics', index } } };
}

function pressInMetrics(ui: UiState, { index }: Of<'metrics'>, key: string, at: KeyContext): Pressed {
  const command = commandFor(key, ui.keys);
  if (isMovement(command)) {
    const next = Math.min(at.metrics.length - 1, Math.max(0, index + distance(command, at.page)));
    return { ui: { ...ui, dialog: { kind: 'metrics', index: next } } };
  }
  if (command === 'open') return { ui: { ...closed(ui), metric: at.metrics[index] ?? ui.metric } };
  if (command === 'leave') return { ui, order: { type: 'leave' } };
  if (command === 'back' || command === 'metric') return { ui: closed(ui) };
  return refuse(ui, 'Choose with ↑ ↓ and Enter; Esc keeps the metric.');
}

function pressInText(
  ui: UiState,
  dialog: Of<'help' | 'table'>,
  key: string,
  { length, page }: { length: number; page: number },
): Pressed {
  const command = commandFor(key, ui.keys);
  if (isMovement(command)) {
    const top = Math.min(Math.max(0, length - page), Math.max(0, dialog.top + distance(command, page)));
    return { ui: { ...ui, dialog: { ...dialog, top } } };
  }
  if (command === 'leave') return { ui, order: { type: 'leave' } };
  const closes = ['back', 'open', dialog.kind].includes(command ?? '');
  return closes ? { ui: closed(ui) } : refuse(ui, 'Esc closes this.');
}

type DraftDialog = Extract<Dialog, { kind: 'draft' }>;

/** One key while a person looks at what submitting new runs would do. */
function pressInDraft(ui: UiState, dialog: DraftDialog, key: string, at: KeyContext): Pressed {
  const { draft, top } = dialog;
  const command = commandFor(key, ui.keys);
  if (key === 'escape') return { ui: { ...ui, dialog: { kind: 'none' } }, order: { type: 'drop-draft' } };
  if (key === 'e') return { ui, order: { type: 'edit-draft' } };
  if (key === 'enter') return { ui, order: { type: draft.verdict.kind === 'ready' ? 'submit-draft' : 'edit-draft' } };
  if (isMovement(command)) {
    const length = 'lines' in draft.verdict ? draft.verdict.lines.length : 0;
    const next = Math.max(0, Math.min(length - 1, top + distance(command, at.page)));
    return { ui: { ...ui, dialog: { ...dialog, top: next } } };
  }
  const what = draft.verdict.kind === 'ready' ? 'submits' : 'edits it again';
  return refuse(ui, `Enter ${what}, Esc discards it; the text is kept in ${draft.path}.`);
}
