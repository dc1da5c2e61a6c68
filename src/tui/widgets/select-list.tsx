import { scrollTo } from '../model/selection.js';
import { useModelSource } from '../model/use-model.js';
import type { MenuState } from '../state/ui-state.js';
import { Canvas } from '../surface/ink-window.js';
import { fitLine, type Line, lineWidth, onBackground } from '../surface/span.js';
import type { Size } from '../surface/surface.js';
import { DialogBox, dialogWidth } from './dialog-box.js';
import { Text } from './text.js';

type Props = {
  readonly width: number;
  readonly height: number;
  readonly count: number;
  /** Index of the row under the cursor; -1: none. */
  readonly index: number;
  /** Returns one row of the list; called only for visible rows. */
  readonly row: (index: number) => Line;
  /** The key that a click on a row presses, after the cursor has moved there. */
  readonly clickKey: string;
};

/** A list of rows to choose from, of any length. A click chooses a row. */
export function SelectList({ width, height, count, index, row, clickKey }: Props) {
  const source = useModelSource();
  const top = firstRowShown(index, height, count);
  const draw = (): Line[] => {
    const shown = Math.min(height, Math.max(0, count - top));
    return Array.from({ length: shown }, (_, at) => {
      const line = fitLine(row(top + at), width);
      return top + at === index ? onBackground(line, 'selected') : line;
    });
  };
  return (
    <Canvas
      {...{ width, height, draw }}
      flexShrink={0}
      onPoint={({ row: at }) => {
        if (top + at < count) source.chooseRow(top + at, clickKey);
      }}
    />
  );
}

/** The first of `height` visible rows: the row under the cursor is in the middle, except near the ends. */
export function firstRowShown(index: number, height: number, count: number): number {
  return scrollTo(Math.max(0, index), Math.max(0, index - (height >> 1)), height, count);
}

/** Maximum rows of a menu, so that its subject stays visible. */
const mostRows = 20;

type MenuProps<Item> = {
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
export function Menu<Item>({ title, screen, menu, items, matches, line, clickKey = 'enter' }: MenuProps<Item>) {
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
