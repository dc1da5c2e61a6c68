import { chooseChart } from '../app/chart-handler.js';
import { distance, isMovement, type KeyContext, type Pressed, refuse } from '../app/key-context.js';
import { commandFor } from '../app/key-map.js';
import type { UiState } from '../state/ui-state.js';

export function askForX(ui: UiState, at: KeyContext): Pressed {
  const choices = at.xChoices ?? [];
  if (at.charts === 0 || choices.length === 0) {
    return refuse(ui, 'There is no chart to choose an axis for; select a run that has started.');
  }
  const index = Math.max(
    0,
    choices.findIndex(({ key }) => key === ui.chart.xKey),
  );
  return { ui: { ...ui, dialog: { kind: 'x-axis', index } } };
}

/** One key while the dialog asks for the x axis. */
export function pressInX(ui: UiState, index: number, key: string, at: KeyContext): Pressed {
  const choices = at.xChoices ?? [];
  const command = commandFor(key, ui.keys);
  if (isMovement(command)) {
    const moved = Math.min(choices.length - 1, Math.max(0, index + distance(command, at.page)));
    return { ui: { ...ui, dialog: { kind: 'x-axis', index: moved } } };
  }
  if (command === 'open') return chooseX(ui, choices[index]);
  if (command === 'leave') return { ui, order: { type: 'leave' } };
  if (command === 'back' || command === 'x-axis') return { ui: { ...ui, dialog: { kind: 'none' } } };
  return refuse(ui, 'Choose with ↑ ↓ and Enter; Esc keeps the axis.');
}

/** Another axis has other places: what was zoomed into and pointed at on the old one is let go. */
function chooseX(ui: UiState, choice: NonNullable<KeyContext['xChoices']>[number] | undefined): Pressed {
  if (choice === undefined) return { ui: { ...ui, dialog: { kind: 'none' } } };
  if (choice.refusal !== null) return refuse(ui, choice.refusal);
  const closed: UiState = { ...ui, dialog: { kind: 'none' } };
  return chooseChart(closed, { xKey: choice.key, zoom: null, cursor: null }, `x axis: ${choice.label}.`);
}
