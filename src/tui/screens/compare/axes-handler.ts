import { isMovement, type KeyContext, type Pressed, refuse } from '../../app/key-context.js';
import { commandFor } from '../../app/key-map.js';
import { placeAfter } from '../../keys/movement-rows.js';
import type { Dialog, UiState } from '../../state/ui-state.js';

type AxesDialog = Extract<Dialog, { kind: 'axes' }>;

/** One key while the axes of the heatmap are chosen: Enter for the axis across, space for the one down. */
export function pressInAxes(ui: UiState, { index, keys }: AxesDialog, key: string, at: KeyContext): Pressed {
  const command = commandFor(key, ui.keys);
  if (isMovement(command)) {
    return {
      ui: {
        ...ui,
        dialog: { kind: 'axes', index: placeAfter(index, command, { length: keys.length, page: at.page }), keys },
      },
    };
  }
  if (command === 'leave') return { ui, order: { type: 'leave' } };
  if (command === 'back' || command === 'x-axis') return { ui: { ...ui, dialog: { kind: 'none' } } };
  const chosen = keys[index];
  if (chosen === undefined || (command !== 'open' && command !== 'mark'))
    return refuse(ui, 'Enter: across · Space: down · Esc: done.');
  return withAxis(ui, chosen, command === 'open' ? 'across' : 'down');
}

/** A parameter that is on the other axis changes places; the one that is down already goes away. */
function withAxis(ui: UiState, chosen: string, place: 'across' | 'down'): Pressed {
  const now = ui.compare.axes ?? { across: chosen, down: null };
  const axes =
    place === 'across'
      ? { across: chosen, down: now.down === chosen ? now.across : now.down }
      : now.across === chosen
        ? { across: now.down ?? chosen, down: now.down === null ? null : chosen }
        : { across: now.across, down: now.down === chosen ? null : chosen };
  return { ui: { ...ui, compare: { ...ui.compare, axes } } };
}
