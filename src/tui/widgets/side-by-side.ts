import { fitLine, type Line, span } from '../surface/span.js';

/** Columns between two tiles. */
export const tileGap = 2;

/** Tiles of equal size in one row of a pane. `size`: of each tile. */
export function sideBySide(tiles: readonly (readonly Line[])[], size: { width: number; height: number }): Line[] {
  return Array.from({ length: size.height }, (_, row): Line =>
    tiles.flatMap((lines, column) => [
      ...(column > 0 ? [span(' '.repeat(tileGap))] : []),
      ...fitLine(lines[row] ?? [], size.width),
    ]),
  );
}

/** The width of each of several tiles in a row of `width` columns. */
export function tileWidth(width: number, tiles: number): number {
  return Math.floor((width - tileGap * (tiles - 1)) / tiles);
}
