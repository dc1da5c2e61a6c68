import type { KeyContext } from '../../keys/key-context.js';
import { paneSize } from '../../state/preferences-port.js';
import type { Size } from '../../surface/surface.js';

/** Minimum width for a pane beside the list; the next constant is the minimum height of the body for a curve below it. */
const wide = 100;
const tall = 25;
/** Rows of the column heading. */
const heading = 1;
/** Columns of the rule between list and pane, including margins. */
const ruleWidth = 3;

/** Least size of the list and of what is beside or below it, in columns and in rows. */
const leastColumns = { list: 40, pane: 24 };
const leastRows = { list: 5, strip: 6 };

/** Division of the jobs screen. `strip`: rows of the curve below the list; `pane`: columns beside it. */
type JobsLayout = { readonly list: Size; readonly strip: number; readonly pane: number };

/** What the layout depends on. `rows`: rows of the list; a short one leaves its room to the curve. `wanted`: as in `PaneSizes`. */
type ListContent = { readonly isSmall: boolean; readonly rows: number; readonly wanted: number | null };

export function jobsLayout({ width, height }: Size, { isSmall, rows, wanted }: ListContent): JobsLayout {
  if (isSmall) return { list: { width, height }, strip: 0, pane: 0 };
  if (width >= wide) {
    const usual = Math.max(58, Math.min(104, Math.floor(width * 0.6)));
    const most = width - ruleWidth - leastColumns.pane;
    const left = paneSize(wanted, { usual, least: leastColumns.list, most });
    return { list: { width: left, height }, strip: 0, pane: width - left - ruleWidth };
  }
  const most = height - (height >= tall ? Math.floor(height * 0.4) : 0);
  if (most === height) return { list: { width, height }, strip: 0, pane: 0 };
  const usual = Math.min(most, Math.max(6, rows + 2));
  const used = paneSize(wanted, { usual, least: leastRows.list, most: height - leastRows.strip });
  return { list: { width, height: used }, strip: height - used, pane: 0 };
}

/** Number of visible rows of runs and groups, which is the size of a page. */
export function listPage(body: Size, { isSmall, wanted }: Omit<ListContent, 'rows'>): number {
  // The list has all its room before it is known how many rows it has.
  const { list } = jobsLayout(body, { isSmall, rows: Infinity, wanted });
  return Math.max(1, isSmall ? list.height : list.height - heading);
}

/** Where the boundary of the layout is, for the keys that move it. */
export function listBoundary(body: Size, content: ListContent): KeyContext['boundary'] {
  const { list, strip, pane } = jobsLayout(body, content);
  if (pane > 0) return { size: list.width, step: 2 };
  return strip > 0 ? { size: list.height, step: 1 } : null;
}
