import { distance, isMovement, type KeyContext, type Pressed } from '../keys/key-context.js';
import { commandFor } from '../screens/key-map.js';
import type { UiState } from '../state/ui-state.js';
import type { DialogState } from './dialog-module.js';

type Scrolled = Extract<DialogState, { top: number }>;

/** Scrolls a dialog by a movement key, at most to its end; null: the key has another meaning. `length`: number of all lines. */
export function scrolledBy(
  ui: UiState,
  dialog: Scrolled,
  key: string,
  { at, length, page = at.page }: { readonly at: KeyContext; readonly length: number; readonly page?: number },
): Pressed | null {
  const command = commandFor(key, ui.keys);
  if (!isMovement(command)) return null;
  const last = Math.max(0, length - page);
  const top = Math.min(last, Math.max(0, Math.min(dialog.top, last) + distance(command, page)));
  return { ui: { ...ui, dialog: { ...dialog, top } } };
}
