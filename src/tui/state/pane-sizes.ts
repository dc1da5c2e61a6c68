/**
 * Where the user has put the boundary between the panes of a screen: columns of the list (rows, where the curve is below it), and
 * rows of the charts of an open run. Null: where the layout puts it. `columns`: widths of columns of the list by id; without one,
 * a column is as wide as the layout makes it.
 */
export type PaneSizes = {
  readonly list: number | null;
  readonly charts: number | null;
  readonly columns: ColumnWidths;
};
export type ColumnWidths = Readonly<Record<string, number>>;
/** The panes that have a boundary. */
export type PanePart = 'list' | 'charts';

export const initialPanes: PaneSizes = { list: null, charts: null, columns: {} };

/** The size of a pane with the boundary where the user wants it, as far as both panes keep their least size. */
export function paneSize(
  wanted: number | null,
  { usual, least, most }: { readonly usual: number; readonly least: number; readonly most: number },
): number {
  return wanted === null ? usual : Math.max(least, Math.min(most, wanted));
}
