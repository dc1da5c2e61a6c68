import { useModelSource } from '../model/use-model.js';
import { Canvas } from '../surface/canvas.js';
import { scrollTo } from './scroll.js';
import { fitLine, type Line, onBackground } from '../surface/span.js';

type Props = {
  readonly width: number;
  readonly height: number;
  readonly count: number;
  /** The row under the cursor; -1: none. */
  readonly index: number;
  /** One row of the list; asked only for those that are seen. */
  readonly row: (index: number) => Line;
  /** The key that a click on a row stands for, once the cursor is there. */
  readonly clickKey: string;
};

/** Rows to choose from, of which any number may be out of sight. A click chooses a row, the wheel moves the cursor. */
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
      onPoint={(at) => {
        if (at.kind !== 'click') source.turn(at.kind);
        else if (top + at.row < count) source.chooseRow(top + at.row, clickKey);
      }}
    />
  );
}

/** The first of `height` rows of a list: the one under the cursor stands in the middle, as far as the ends allow. */
export function firstRowShown(index: number, height: number, count: number): number {
  return scrollTo(Math.max(0, index), Math.max(0, index - (height >> 1)), height, count);
}
