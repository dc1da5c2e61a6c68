import type { Size } from '../surface/surface.js';
import type { WindowModel } from '../model/window-model.js';
import { jobsLayout } from '../screens/jobs/layout.js';
import { listPane, listRows } from '../widgets/run-list/list-pane.js';
import { type Line, span } from '../surface/span.js';

/** Minimum size for the whole window; smaller ones show only a list, and below the minimum nothing. */
const whole: Size = { width: 80, height: 24 };
export const least: Size = { width: 40, height: 10 };
/** Rows of header and footer together, on a whole and on a small screen. */
const frame = { whole: 5, small: 2 };

/** Whether a terminal is too small to show anything useful. */
export function isTooSmall({ width, height }: Size): boolean {
  return width < least.width || height < least.height;
}

/** Whether a terminal has only one line of header and one of footer. */
export function isSmall({ width, height }: Size): boolean {
  return width < whole.width || height < whole.height;
}

/** The size of the screen's area between header and footer. */
export function bodyOf(size: Size): Size {
  const rows = size.height - (isSmall(size) ? frame.small : frame.whole);
  return { width: size.width, height: Math.max(1, rows) };
}

/** The list where the screen will have it, shown before the components are loaded. */
export function firstPicture(model: WindowModel, size: Size): readonly Line[] {
  if (isTooSmall(size)) return [];
  const small = isSmall(size);
  const { list } = jobsLayout(bodyOf(size), {
    ...{ isSmall: small, rows: model.rows.length, wanted: model.ui.panes.list },
  });
  if (small) return [[span(model.title, 'title')], ...listRows(model, list.width, list.height)];
  return [[span(` ${model.title}`, 'title')], [], [], ...listPane(model, list.width, list.height)];
}
