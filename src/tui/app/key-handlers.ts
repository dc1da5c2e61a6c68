import type { Command, WindowCommand } from '../state/command.js';
import { commandFor, keyMapOf, keyOf } from './key-map.js';
import { handleAct } from './act-handler.js';
import { handleChart } from './chart-handler.js';
import { handleCompare } from '../screens/compare/compare-handler.js';
import { pressInDialog } from '../dialogs/dialog-handler.js';
import { handleInCompare } from '../screens/compare/in-compare-handler.js';
import { handleInSweep } from '../screens/sweep/in-sweep-handler.js';
import { handleList } from '../screens/jobs/list-handler.js';
import { askSearch, isReadingLog, handleLog } from '../screens/run/log-handler.js';
import { handleMove } from './move-handler.js';
import { askWallFilter, isOnWall } from './wall-handler.js';
import { handleInGpus, handleScreen } from './screen-handler.js';
import { type Handler, type Pressed, refuse, type KeyContext } from './key-context.js';
import type { UiState } from '../state/ui-state.js';

/** One key: the state after it, and what has to be done outside. A key that does nothing leaves a note that says why. */
export function press(ui: UiState, key: string, situation: KeyContext): Pressed {
  const quiet = { ...ui, note: null };
  if (key === 'ctrl-c') return { ui: quiet, order: { type: 'leave' } };
  if (key === 'ctrl-l') return { ui: quiet, order: { type: 'repaint' } };
  if (key === 'ctrl-z') return { ui: quiet, order: { type: 'suspend' } };
  if (ui.dialog.kind !== 'none') {
    const pressed = pressInDialog(quiet, ui.dialog, key, situation);
    return pressed.command === undefined ? pressed : run(pressed.ui, pressed.command, situation);
  }
  const command = commandFor(key, ui.keys);
  if (command === undefined)
    return refuse(quiet, `${key} does nothing here; ${keyOf('help', ui.keys)} shows the keys.`);
  return (handleHere(ui)[command] ?? obey[command])(quiet, situation, key);
}

/** A command that was chosen by its name: as if its key had been pressed. */
function run(ui: UiState, command: Command, situation: KeyContext): Pressed {
  const key = keyMapOf(ui.keys).find((binding) => binding.command === command)?.keys[0] ?? '';
  return (handleHere(ui)[command] ?? obey[command])(ui, situation, key);
}

/** What keys do on this screen that they do not do elsewhere. */
function handleHere({ screen }: UiState): Partial<Record<Command, Handler>> {
  if (screen.kind === 'compare') return handleInCompare;
  if (screen.kind === 'gpus') return handleInGpus;
  return screen.kind === 'sweep' ? handleInSweep : {};
}

const handleWindow: Record<WindowCommand, Handler> = {
  repaint: (ui) => ({ ui, order: { type: 'repaint' } }),
  suspend: (ui) => ({ ui, order: { type: 'suspend' } }),
  leave: (ui) => ({ ui, order: { type: 'leave' } }),
};

const obey: Record<Command, Handler> = {
  ...handleMove,
  ...handleAct,
  ...handleList,
  ...handleChart,
  ...handleLog,
  // In a log one looks for words, among charts for metrics, elsewhere for runs.
  filter: (ui, at, key) =>
    isReadingLog(ui, at) ? askSearch(ui) : isOnWall(ui) ? askWallFilter(ui) : handleList.filter(ui, at, key),
  ...handleCompare,
  ...handleScreen,
  ...handleWindow,
};
