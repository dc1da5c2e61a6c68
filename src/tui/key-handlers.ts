import type { Command, WindowCommand } from './command.js';
import { commandFor, keyMapOf, keyOf } from './key-map.js';
import { obeyAct } from './act-handler.js';
import { obeyChart } from './chart-handler.js';
import { obeyCompare } from './compare-handler.js';
import { pressInDialog } from './dialog-handler.js';
import { obeyInCompare } from './in-compare-handler.js';
import { obeyInSweep } from './in-sweep-handler.js';
import { obeyList } from './list-handler.js';
import { askSearch, isReadingLog, obeyLog } from './log-handler.js';
import { obeyMove } from './move-handler.js';
import { obeyInGpus, obeyScreen } from './screen-handler.js';
import { type Obey, type Pressed, refuse, type Situation } from './key-context.js';
import type { UiState } from './ui-state.js';

/** One key: the state after it, and what has to be done outside. A key that does nothing leaves a note that says why. */
export function press(ui: UiState, key: string, situation: Situation): Pressed {
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
  return (obeyHere(ui)[command] ?? obey[command])(quiet, situation, key);
}

/** A command that was chosen by its name: as if its key had been pressed. */
function run(ui: UiState, command: Command, situation: Situation): Pressed {
  const key = keyMapOf(ui.keys).find((binding) => binding.command === command)?.keys[0] ?? '';
  return (obeyHere(ui)[command] ?? obey[command])(ui, situation, key);
}

/** What keys do on this screen that they do not do elsewhere. */
function obeyHere({ screen }: UiState): Partial<Record<Command, Obey>> {
  if (screen.kind === 'compare') return obeyInCompare;
  if (screen.kind === 'gpus') return obeyInGpus;
  return screen.kind === 'sweep' ? obeyInSweep : {};
}

const obeyWindow: Record<WindowCommand, Obey> = {
  repaint: (ui) => ({ ui, order: { type: 'repaint' } }),
  suspend: (ui) => ({ ui, order: { type: 'suspend' } }),
  leave: (ui) => ({ ui, order: { type: 'leave' } }),
};

const obey: Record<Command, Obey> = {
  ...obeyMove,
  ...obeyAct,
  ...obeyList,
  ...obeyChart,
  ...obeyLog,
  // In a log one looks for words, elsewhere for runs.
  filter: (ui, at, key) => (isReadingLog(ui, at) ? askSearch(ui) : obeyList.filter(ui, at, key)),
  ...obeyCompare,
  ...obeyScreen,
  ...obeyWindow,
};
