import { useModelSource } from '../model/use-model.js';
import { Canvas } from '../surface/ink-window.js';
import { scrollTo } from '../model/selection.js';
import { fitLine, type Line, onBackground } from '../surface/span.js';

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
