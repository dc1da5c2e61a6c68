import { Box } from 'ink';
import { fitLine, fitLineRight, type Line, onBackground, span } from '../surface/span.js';
import { scrollTo } from '../model/selection.js';
import { Row } from './text.js';

/** One column of a table. */
export type Column<Item> = {
  /** A line has its own tones. */
  readonly title?: string | Line;
  /** Columns of the screen; absent: the rest of the row. */
  readonly width?: number;
  /** Whether numbers and titles are at the right end of the column. */
  readonly isRight?: boolean;
  /** Columns of space before it; default: 2. */
  readonly gap?: number;
  readonly cell: (item: Item, index: number) => Line;
};

type Props<Item> = {
  readonly columns: readonly Column<Item>[];
  readonly items: readonly Item[];
  readonly width: number;
  /** Rows with the heading; default: as many as there are items. The chosen item is among the visible ones. */
  readonly height?: number;
  /** Index of the chosen item; null: none is. */
  readonly at?: number | null;
  /** Index of the first visible item; default: one from which the chosen one is visible. */
  readonly top?: number;
  /** Replaces the row of titles; null: there is none. */
  readonly heading?: Line | null;
};

/** Items below each other in columns, below a row with the titles of the columns. Only visible items are rendered. */
export function Table<Item>({ columns, items, width, height, at = null, top, heading }: Props<Item>) {
  const head = heading === undefined ? titleLine(columns) : heading;
  const rows = height === undefined ? items.length : Math.max(0, height - (head === null ? 0 : 1));
  const first = top ?? (at === null ? 0 : scrollTo(at, 0, rows, items.length));
  return (
    <Box flexDirection="column" width={width} flexShrink={0}>
      {head !== null && <Row line={head} />}
      {items.slice(first, first + rows).map((item, offset) => {
        const line = fitLine(tableLine(columns, item, first + offset), width);
        return <Row key={first + offset} line={first + offset === at ? onBackground(line, 'selected') : line} />;
      })}
    </Box>
  );
}

/** One row of a table. */
export function tableLine<Item>(columns: readonly Column<Item>[], item: Item, index: number): Line {
  return columns.flatMap((column) => placed(column, column.cell(item, index)));
}

function titleLine<Item>(columns: readonly Column<Item>[]): Line {
  return columns.flatMap((column) => {
    const { title = '' } = column;
    return placed(column, typeof title === 'string' ? [span(title, 'faint')] : title);
  });
}

function placed<Item>({ width, isRight = false, gap = 2 }: Column<Item>, cell: Line): Line {
  const space = gap === 0 ? [] : [span(' '.repeat(gap))];
  if (width === undefined) return [...space, ...cell];
  return [...space, ...(isRight ? fitLineRight(cell, width) : fitLine(cell, width))];
}

/** Columns of a table up to its last column with a width. */
export function tableWidth<Item>(columns: readonly Column<Item>[]): number {
  return columns.reduce((sum, { gap = 2, width = 0 }) => sum + gap + width, 0);
}
