import type { Size } from '../../surface/surface.js';

/** From this width on the selection has a pane beside the list; from this height of the body on a curve below it. */
const wide = 100;
const tall = 25;
/** The heading of the columns. */
const heading = 1;
/** Columns of the rule between list and pane, with its margins. */
const ruleWidth = 3;

/** How the room of the jobs screen is divided. `strip`: rows of the curve below the list; `pane`: columns beside it. */
type JobsLayout = { readonly list: Size; readonly strip: number; readonly pane: number };

/** `rows`: how many the list has, for a short list leaves its room to the curve. */
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

/** Rows of runs and groups that are seen at once: what a page is. */
export function listPage(body: Size, isSmall: boolean): number {
  if (isSmall) return Math.max(1, body.height);
  const strip = body.width < wide && body.height >= tall ? Math.floor(body.height * 0.4) : 0;
  return body.height - strip - heading;
}
