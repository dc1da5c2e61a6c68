import { type ScreenCommand } from './command.js';
import { type Obey, type Pressed, refuse, type Situation } from './situation.js';
import { type UiState } from './ui-state.js';

export const obeyScreen: Record<ScreenCommand, Obey> = {
  gpus: (ui) => refuse(ui, 'There are no GPUs here.'),
  sweep: (ui) =>
    ui.screen.kind === 'sweep'
      ? refuse(ui, 'This is the sweep; Esc goes back.')
      : { ui: { ...ui, screen: { kind: 'sweep', top: 0 } } },
  table: showTable,
  help: (ui) => ({ ui: { ...ui, dialog: { kind: 'help', top: 0 } } }),
};

function showTable(ui: UiState, at: Situation): Pressed {
  if (at.tableLength === null) return refuse(ui, 'There is no summary table for this sweep.');
  return { ui: { ...ui, dialog: { kind: 'table', top: 0 } } };
}
