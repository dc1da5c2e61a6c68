import type { ComponentType } from 'react';
import type { KeyContext, Pressed } from '../keys/key-context.js';
import type { WindowModel } from '../model/window-model.js';
import type { Dialog, UiState } from '../state/ui-state.js';
import type { Size } from '../surface/surface.js';
import type { KeyHint } from '../widgets/key-hints.js';

/** Every dialog that can be open. */
export type DialogState = Exclude<Dialog, { kind: 'none' }>;
export type DialogOf<Kind extends DialogState['kind']> = Extract<DialogState, { kind: Kind }>;

/**
 * Properties of a dialog component besides the model. `size`: of the whole screen; `isSmall`: the footer has one row instead of
 * two.
 */
export type DialogProps<Kind extends DialogState['kind']> = {
  readonly dialog: DialogOf<Kind>;
  readonly size: Size;
  readonly isSmall: boolean;
};

/** A dialog: its key handler, its footer hints, and its component. */
export type DialogModule<Kind extends DialogState['kind']> = {
  readonly press: (ui: UiState, dialog: DialogOf<Kind>, key: string, at: KeyContext) => Pressed;
  /** The most important hint comes first, the one that closes the dialog last. */
  readonly hints: (dialog: DialogOf<Kind>, model: WindowModel) => readonly KeyHint[];
  readonly Dialog: ComponentType<DialogProps<Kind>>;
};

export function closedDialog(ui: UiState): UiState {
  return { ...ui, dialog: { kind: 'none' } };
}
