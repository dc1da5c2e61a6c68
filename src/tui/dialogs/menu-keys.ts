import { distance, isMovement, type KeyContext, type Pressed, refuse } from '../keys/key-context.js';
import { commandFor } from '../screens/key-map.js';
import { fuzzyScore, ranked } from '../state/fuzzy.js';
import { editLine, lineOf } from '../state/line-editor.js';
import type { MenuState } from '../state/menu-state.js';
import type { UiState } from '../state/ui-state.js';
import type { KeyHint } from '../widgets/key-hints.js';
import { closedDialog, type DialogState } from './dialog-module.js';

/** The dialogs in which letters find a row: none of them may have a letter as a key. */
type MenuDialog = Extract<DialogState, MenuState>;

/** What a menu has to choose from. `textOf`: what is compared with what is typed. */
export type Choices<Item> = { readonly items: readonly Item[]; readonly textOf: (item: Item) => string };

/** What was typed may stand for, the best match first; everything while nothing is typed. */
export function matchesOf<Item>({ items, textOf }: Choices<Item>, { typed }: MenuState): readonly Item[] {
  return typed === '' ? items : ranked(typed, items, (item) => fuzzyScore(typed, textOf(item)));
}

/** The row under the cursor; undefined: nothing matches. */
export function chosenOf<Item>(choices: Choices<Item>, menu: MenuState): Item | undefined {
  return matchesOf(choices, menu)[menu.index];
}

const longest = 60;

type MenuKeys<Item> = {
  readonly choices: Choices<Item>;
  readonly at: KeyContext;
  /** What is said of a key that means nothing. */
  readonly usage: string;
};

/** What a key does in every menu: it moves, finds by what is typed, takes that back, closes. */
export function pressInMenu<Item>(ui: UiState, dialog: MenuDialog, key: string, keys: MenuKeys<Item>): Pressed {
  const { choices, at, usage } = keys;
  const command = isLetter(key) ? undefined : commandFor(key, ui.keys);
  if (isMovement(command)) {
    const last = matchesOf(choices, dialog).length - 1;
    const index = Math.max(0, Math.min(last, dialog.index + distance(command, at.page)));
    return { ui: { ...ui, dialog: { ...dialog, index } } };
  }
  if (key === 'escape' && dialog.typed === '') return { ui: closedDialog(ui) };
  const typed = key === 'escape' ? '' : typedAfter(dialog, key);
  if (typed === null) return refuse(ui, usage);
  if (typed === dialog.typed) return { ui };
  return { ui: { ...ui, dialog: typed === '' ? unfiltered(dialog, choices) : { ...dialog, typed, index: 0 } } };
}

/** What is typed after a key; null for one that does not edit it. */
function typedAfter({ typed }: MenuState, key: string): string | null {
  if (isCursorKey(key)) return null;
  const edited = editLine(lineOf(typed), key)?.text.trimStart();
  return edited === undefined || edited.length > longest ? null : edited;
}

/** The whole menu again, the cursor on what it was on. */
export function unfiltered<Item>(dialog: MenuDialog, choices: Choices<Item>): MenuDialog {
  const chosen = chosenOf(choices, dialog);
  const index = chosen === undefined ? 0 : choices.items.indexOf(chosen);
  return { ...dialog, index: Math.max(0, index), typed: '' };
}

/** Enter where nothing matches. */
export function refuseNothing(ui: UiState, { typed }: MenuState): Pressed {
  return refuse(
    ui,
    typed === '' ? 'There is nothing to choose from.' : `Nothing here matches ${typed}; Esc clears it.`,
  );
}

/** Hints of a menu: what its own keys do, between how to find a row and how to leave. */
export function menuHints({ typed }: MenuState, ...own: readonly KeyHint[]): readonly KeyHint[] {
  return [...own, ['type', 'to find'], ['↑↓', 'move'], typed === '' ? ['Esc', 'close'] : ['Esc', 'show all']];
}

function isLetter(key: string): boolean {
  return [...key].length === 1;
}

/** Keys that move within a line: here they are the menu's own, or mean nothing. */
function isCursorKey(key: string): boolean {
  return ['left', 'right', 'home', 'end', 'ctrl-a', 'ctrl-e', 'ctrl-b', 'ctrl-f', 'ctrl-d', 'ctrl-k'].includes(key);
}
