/** Minimum size of a chart that says more than its numbers. */
const least = { width: 28, height: 7 };
/** Columns between two charts. */
export const wallGap = 2;
/** Preferred ratio of columns to rows of a chart; characters are twice as high as wide. */
const pleasant = 4;

/** Arrangement of charts in columns and rows. */
type WallGrid = { readonly columns: number; readonly rows: number };

/** The grid that has room for all charts with a ratio closest to the preferred one; if not all fit, as many as are readable. */
export function wallGrid(count: number, width: number, height: number): WallGrid {
  const mostColumns = Math.max(1, Math.floor((width + wallGap) / (least.width + wallGap)));
  const mostRows = Math.max(1, Math.floor(height / least.height));
  if (count >= mostColumns * mostRows) return { columns: mostColumns, rows: mostRows };
  const grids = Array.from({ length: mostColumns }, (_, index) => ({
    columns: index + 1,
    rows: Math.max(1, Math.ceil(count / (index + 1))),
  })).filter(({ rows }) => rows <= mostRows);
  const shapeOf = ({ columns, rows }: WallGrid): number =>
    Math.abs(Math.log(width / columns / (height / rows) / pleasant));
  return grids.reduce((best, grid) => (shapeOf(grid) < shapeOf(best) ? grid : best));
}
