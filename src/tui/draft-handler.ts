import { commandFor } from './key-map.js';
import { distance, isMovement, type Pressed, refuse, type KeyContext } from './key-context.js';
import type { Dialog, UiState } from './ui-state.js';

type DraftDialog = Extract<Dialog, { kind: 'draft' }>;

/** One key while a person looks at what submitting new runs would do. */
export function pressInDraft(ui: UiState, dialog: DraftDialog, key: string, at: KeyContext): Pressed {
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
