import { closedDialog, type DialogModule, type DialogOf, type DialogState, useKeyContext } from './dialog-module.js';
import { distance, isMovement, type KeyContext, type Pressed, refuse } from '../keys/key-context.js';
import { commandFor } from '../screens/key-map.js';
import { useModel } from '../model/use-model.js';
import { fuzzyScore, ranked } from '../state/fuzzy.js';
import { editLine, lineOf } from '../state/line-editor.js';
import type { DialogKind, MenuState, UiState } from '../state/ui-state.js';
import type { Line } from '../surface/span.js';
import type { KeyHint } from '../widgets/line-parts.js';
import { Menu } from '../widgets/select-list.js';

/** Dialogs in which letters search for a row, so that none of them may use a letter as a key. */
type MenuDialog = Extract<DialogState, MenuState>;

/** The items of a menu. `textOf`: the text that is searched. */
export type Choices<Item> = { readonly items: readonly Item[]; readonly textOf: (item: Item) => string };

/** Items that match the typed text, best first; all items if nothing is typed. */
export function matchesOf<Item>({ items, textOf }: Choices<Item>, { typed }: MenuState): readonly Item[] {
  return typed === '' ? items : ranked(typed, items, (item) => fuzzyScore(typed, textOf(item)));
}

/** The item under the cursor; undefined: nothing matches. */
export function chosenOf<Item>(choices: Choices<Item>, menu: MenuState): Item | undefined {
  return matchesOf(choices, menu)[menu.index];
}

const longest = 60;

type MenuKeys<Item> = {
  readonly choices: Choices<Item>;
  readonly at: KeyContext;
  /** Message for a key without a meaning. */
  readonly usage: string;
};

/** Handles keys common to all menus: moving, searching, deleting typed text, closing. */
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

/** The typed text after a key; null if the key does not edit it. */
function typedAfter({ typed }: MenuState, key: string): string | null {
  if (isCursorKey(key)) return null;
  const edited = editLine(lineOf(typed), key)?.text.trimStart();
  return edited === undefined || edited.length > longest ? null : edited;
}

/** The menu with its search cleared and the cursor on the same item. */
export function unfiltered<Item>(dialog: MenuDialog, choices: Choices<Item>): MenuDialog {
  const chosen = chosenOf(choices, dialog);
  const index = chosen === undefined ? 0 : choices.items.indexOf(chosen);
  return { ...dialog, index: Math.max(0, index), typed: '' };
}

/** Refuses Enter if nothing matches. */
export function refuseNothing(ui: UiState, { typed }: MenuState): Pressed {
  return refuse(
    ui,
    typed === '' ? 'There is nothing to choose from.' : `Nothing here matches ${typed}; Esc clears it.`,
  );
}

/** Hints of a menu: its own keys between those for searching and closing. */
export function menuHints({ typed }: MenuState, ...own: readonly KeyHint[]): readonly KeyHint[] {
  return [...own, ['type', 'to find'], ['↑↓', 'move'], typed === '' ? ['Esc', 'close'] : ['Esc', 'show all']];
}

function isLetter(key: string): boolean {
  return [...key].length === 1;
}

/** Whether a key moves within a line. In menus these keys are either the menu's own or have no meaning. */
function isCursorKey(key: string): boolean {
  return ['left', 'right', 'home', 'end', 'ctrl-a', 'ctrl-e', 'ctrl-b', 'ctrl-f', 'ctrl-d', 'ctrl-k'].includes(key);
}

/** Dialogs that are nothing but a menu. */
type MenuKind = { [Kind in DialogKind]: DialogOf<Kind> extends MenuState ? Kind : never }[DialogKind];

/** What a row of a menu is drawn from. */
type Drawn<Item> = {
  readonly items: readonly Item[];
  readonly ui: UiState;
  readonly at: KeyContext;
  /** Columns of the whole screen. */
  readonly width: number;
};

type MenuParts<Kind extends MenuKind, Item> = Pick<DialogModule<Kind>, 'open'> & {
  readonly title: string;
  readonly choices: (at: KeyContext, dialog: DialogOf<Kind>) => Choices<Item>;
  /** Hints for the menu's own keys. */
  readonly own: readonly KeyHint[];
  /** Message for a key without a meaning. */
  readonly usage: string;
  /** The menu's own keys, and what each does with the item under the cursor. No letter is one, because letters search. */
  readonly keys: Readonly<Record<string, (item: Item, pressed: MenuPress<Kind, Item>) => Pressed>>;
  /** How the items are drawn, which may depend on all of them. */
  readonly lineOf: (drawn: Drawn<Item>) => (item: Item) => Line;
};
type MenuPress<Kind extends MenuKind, Item> = {
  readonly ui: UiState;
  readonly dialog: DialogOf<Kind>;
  readonly at: KeyContext;
  readonly choices: Choices<Item>;
};

/** A dialog to choose one of several items. */
export function menuDialog<Kind extends MenuKind, Item>(parts: MenuParts<Kind, Item>): DialogModule<Kind> {
  const { title, own, usage, keys, lineOf, open } = parts;
  return {
    ...(open === undefined ? {} : { open }),
    hints: (dialog) => menuHints(dialog, ...own),
    press: (ui, dialog, key, at) => {
      const choices = parts.choices(at, dialog);
      const act = Object.hasOwn(keys, key) ? keys[key] : undefined;
      if (act === undefined) return pressInMenu(ui, dialog as MenuDialog, key, { choices, at, usage });
      const item = chosenOf(choices, dialog);
      return item === undefined ? refuseNothing(ui, dialog) : act(item, { ui, dialog, at, choices });
    },
    Dialog: function MenuOf({ dialog, size }) {
      const at = useKeyContext();
      const ui = useModel((model) => model.ui);
      const choices = parts.choices(at, dialog);
      const { items } = choices;
      const line = lineOf({ items, ui, at, width: size.width });
      return <Menu screen={size} menu={dialog} matches={matchesOf(choices, dialog)} {...{ title, items, line }} />;
    },
  };
}
