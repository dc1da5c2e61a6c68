import type { Size } from '../surface/surface.js';
import type { WindowModel } from '../model/window-model.js';
import { jobsLines } from '../screens/jobs/jobs-lines.js';
import type { Line } from '../surface/span.js';
import { headerLines, messageLine, screenKeysLine, shortHeader } from './frame-lines.js';

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

/** The jobs screen as its components will draw it, before they are loaded. */
export function firstPicture(model: WindowModel, size: Size): readonly Line[] {
  if (isTooSmall(size)) return [];
  const { width } = size;
  const isSmallSize = isSmall(size);
  const body = jobsLines(model, bodyOf(size), isSmallSize);
  if (isSmallSize) return [shortHeader(model, width), ...body, screenKeysLine(model, width)];
  const header = headerLines.map((read) => read(model, width));
  return [...header, ...body, messageLine(model, width), screenKeysLine(model, width)];
}
