import { type ComponentType, createContext, use } from 'react';
import { distance, type Handler, isMovement, type KeyContext, type Pressed } from '../keys/key-context.js';
import { useModel } from '../model/use-model.js';
import type { WindowModel } from '../model/window-model.js';
import { commandFor } from '../screens/key-map.js';
import type { DialogKind, DialogOf, UiState } from '../state/ui-state.js';
import type { Size } from '../surface/surface.js';
import type { KeyHint } from '../widgets/line-parts.js';

/** Every dialog that can be open. */
export type DialogState = { [Kind in DialogKind]: DialogOf<Kind> }[DialogKind];
export type { DialogOf };

/**
 * Properties of a dialog component besides the model. `size`: of the whole screen; `isSmall`: the footer has one row instead of
 * two.
 */
export type DialogProps<Kind extends DialogKind> = {
  readonly dialog: DialogOf<Kind>;
  readonly size: Size;
  readonly isSmall: boolean;
};

/** A dialog: its key handler, its footer hints, and its component. */
export type DialogModule<Kind extends DialogKind> = {
  /** Opens it by its key; absent: something else opens it. */
  readonly open?: Handler;
  readonly press: (ui: UiState, dialog: DialogOf<Kind>, key: string, at: KeyContext) => Pressed;
  /** The most important hint comes first, the one that closes the dialog last. */
  readonly hints: (dialog: DialogOf<Kind>, model: WindowModel) => readonly KeyHint[];
  readonly Dialog: ComponentType<DialogProps<Kind>>;
};

export function closedDialog(ui: UiState): UiState {
  return { ...ui, dialog: { kind: 'none' } };
}

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

/** Where dialogs get what keys would know now, so that they show what their keys choose from. */
export const KeyContextSource = createContext<(() => KeyContext) | null>(null);

export function useKeyContext(): KeyContext {
  const context = use(KeyContextSource);
  // What keys know depends on everything that the window shows.
  useModel((model) => model);
  return context!();
}
