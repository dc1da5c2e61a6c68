import type { Command } from '../../state/command.js';
import type { ListDialog } from '../../state/list-dialog.js';
import { distance, isMovement, type Pressed } from '../../app/key-context.js';
import type { UiState } from '../../state/ui-state.js';

export function closedDialog(ui: UiState): UiState {
  return { ...ui, dialog: { kind: 'none' } };
}

/** The cursor moved among `count` rows, of which a page shows `page`; null for any other command. */
export function moveIn(
  ui: UiState,
  dialog: ListDialog,
  command: Command | undefined,
  { count, page }: { count: number; page: number },
): Pressed | null {
  if (command === 'leave') return { ui, order: { type: 'leave' } };
  if (!isMovement(command)) return null;
  const index = Math.min(count - 1, Math.max(0, dialog.index + distance(command, page)));
  return { ui: { ...ui, dialog: { ...dialog, index: Math.max(0, index) } } };
}
