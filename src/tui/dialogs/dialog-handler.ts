import type { KeyContext, Pressed } from '../app/key-context.js';
import type { WindowModel } from '../model/window-model.js';
import type { UiState } from '../state/ui-state.js';
import type { KeyHint } from '../widgets/key-hints.js';
import type { DialogModule, DialogState } from './dialog-module.js';
import { dialogs } from './registry.js';

/** One key while a dialog is open. */
export function pressInDialog(ui: UiState, dialog: DialogState, key: string, at: KeyContext): Pressed {
  return moduleOf(dialog).press(ui, dialog, key, at);
}

/** What the footer says of the keys of the open dialog; null: none is open. */
export function dialogHints(model: WindowModel): readonly KeyHint[] | null {
  const { dialog } = model.ui;
  return dialog.kind === 'none' ? null : moduleOf(dialog).hints(dialog, model);
}

/** The registry holds for each kind what takes a dialog of that kind; the compiler cannot see that the two belong together. */
export function moduleOf({ kind }: DialogState): DialogModule<DialogState['kind']> {
  return dialogs[kind] as DialogModule<DialogState['kind']>;
}
