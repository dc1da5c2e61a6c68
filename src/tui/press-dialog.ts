import { assertNever } from '../base/assert-never.js';
import { readRunQuery } from '../client/run-query.js';
import { finishedPart } from '../client/run-query-typing.js';
import { commandFor } from './key-map.js';
import { pressInX } from './press-chart.js';
import { pressInAxes } from './press-in-compare.js';
import { distance, isMovement, type Pressed, refuse, type Situation } from './situation.js';
import { type Dialog, type UiState } from './ui-state.js';

type OpenDialog = Exclude<Dialog, { kind: 'none' }>;
type Of<Kind extends OpenDialog['kind']> = Extract<OpenDialog, { kind: Kind }>;

/** One key while a dialog is open. */
export function pressInDialog(ui: UiState, dialog: OpenDialog, key: string, at: Situation): Pressed {
  switch (dialog.kind) {
    case 'filter':
      return pressInFilter(ui, dialog, key);
    case 'confirm':
      return pressInConfirm(ui, dialog, key);
    case 'metrics':
      return pressInMetrics(ui, dialog, key, at);
    case 'x-axis':
      return pressInX(ui, dialog.index, key, at);
    case 'axes':
      return pressInAxes(ui, dialog.index, key, at);
    case 'help':
      return pressInText(ui, dialog, key, { length: at.helpLength, page: at.page });
    case 'table':
      return pressInText(ui, dialog, key, { length: at.tableLength ?? 0, page: at.page });
    default:
      return assertNever(dialog);
  }
}

function closed(ui: UiState): UiState {
  return { ...ui, dialog: { kind: 'none' } };
}

/** The list follows while one types, as far as what is there makes sense. */
function pressInFilter(ui: UiState, { text, before }: Of<'filter'>, key: string): Pressed {
  if (key === 'escape') return { ui: { ...closed(ui), filter: before } };
  if (key === 'enter') {
    const query = readRunQuery(text);
    if (query.kind === 'problem') return refuse(ui, `${query.problem} ${query.fix}`);
    return { ui: { ...closed(ui), filter: text.trim() } };
  }
  const typed = key === 'backspace' ? [...text].slice(0, -1).join('') : key === 'ctrl-u' ? '' : text + typedText(key);
  if (typed === text) return { ui };
  return { ui: { ...ui, filter: finishedPart(typed).trim(), dialog: { kind: 'filter', text: typed, before } } };
}

/** The character a key stands for; nothing for keys with a name. */
function typedText(key: string): string {
  return key === 'space' ? ' ' : [...key].length === 1 ? key : '';
}

function pressInConfirm(ui: UiState, { key: asked, order }: Of<'confirm'>, key: string): Pressed {
  if (key === asked) return { ui: closed(ui), order };
  return { ui: { ...closed(ui), note: { text: 'Cancelled; nothing was killed.', tone: 'dim' } } };
}

function pressInMetrics(ui: UiState, { index }: Of<'metrics'>, key: string, at: Situation): Pressed {
  const command = commandFor(key);
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
  const command = commandFor(key);
  if (isMovement(command)) {
    const top = Math.min(Math.max(0, length - page), Math.max(0, dialog.top + distance(command, page)));
    return { ui: { ...ui, dialog: { ...dialog, top } } };
  }
  if (command === 'leave') return { ui, order: { type: 'leave' } };
  const closes = ['back', 'open', dialog.kind].includes(command ?? '');
  return closes ? { ui: closed(ui) } : refuse(ui, 'Esc closes this.');
}
