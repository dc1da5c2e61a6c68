import type { Size } from '../../surface/surface.js';

/** Minimum width for a pane beside the list; the next constant is the minimum height of the body for a curve below it. */
const wide = 100;
const tall = 25;
/** Rows of the column heading. */
const heading = 1;
/** Columns of the rule between list and pane, including margins. */
const ruleWidth = 3;

/** Division of the jobs screen. `strip`: rows of the curve below the list; `pane`: columns beside it. */
type JobsLayout = { readonly list: Size; readonly strip: number; readonly pane: number };

/** `rows`: number of rows in the list; a short list leaves its room to the curve. */
export function jobsLayout({ width, height }: Size, isSmall: boolean, rows: number): JobsLayout {
  if (isSmall) return { list: { width, height }, strip: 0, pane: 0 };
  if (width >= wide) {
    const left = Math.max(58, Math.min(104, Math.floor(width * 0.6)));
    return { list: { width: left, height }, strip: 0, pane: width - left - ruleWidth };
  }
  const most = height - (height >= tall ? Math.floor(height * 0.4) : 0);
  if (most === height) return { list: { width, height }, strip: 0, pane: 0 };
  const used = Math.min(most, Math.max(6, rows + 2));
  return { list: { width, height: used }, strip: height - used, pane: 0 };
}

/** Number of visible rows of runs and groups, which is the size of a page. */
export function listPage(body: Size, isSmall: boolean): number {
  if (isSmall) return Math.max(1, body.height);
  const strip = body.width < wide && body.height >= tall ? Math.floor(body.height * 0.4) : 0;
  return body.height - strip - heading;
}
