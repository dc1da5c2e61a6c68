import type { MenuState } from '../state/ui-state.js';
import type { Size } from '../surface/surface.js';
import { DialogBox, dialogWidth } from './dialog-box.js';
import { firstRowShown, SelectList } from './select-list.js';
import { type Line, lineWidth } from '../surface/span.js';
import { Text } from './text.js';

/** Maximum rows of a menu, so that its subject stays visible. */
const mostRows = 20;

type Props<Item> = {
  readonly title: string;
  readonly screen: Size;
  readonly menu: MenuState;
  /** All items, and those that match the typed text. */
  readonly items: readonly Item[];
  readonly matches: readonly Item[];
  readonly line: (item: Item) => Line;
  /** The key that a click on a row presses. */
  readonly clickKey?: string;
};

/** A framed menu with the typed text in its title. Keeps its size while the user types. */
export function Menu<Item>({ title, screen, menu, items, matches, line, clickKey = 'enter' }: Props<Item>) {
  const width = dialogWidth(Math.max(title.length + 16, ...items.map((item) => lineWidth(line(item)))), screen.width);
  const height = Math.max(1, Math.min(items.length, mostRows, screen.height - 4));
  const below = Math.max(0, matches.length - firstRowShown(menu.index, height, matches.length) - height);
  return (
    <DialogBox {...{ title, screen, width, height, below }} typed={menu.typed}>
      {matches.length === 0 ? (
        <Text tone="warn"> {menu.typed === '' ? 'There is nothing here.' : 'Nothing matches.'}</Text>
      ) : (
        <SelectList
          {...{ width, height, clickKey }}
          count={matches.length}
          index={menu.index}
          row={(index) => line(matches[index]!)}
        />
      )}
    </DialogBox>
  );
}
