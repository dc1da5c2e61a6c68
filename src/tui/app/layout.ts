import type { Size } from '../surface/surface.js';

/** Below this much room there is only a list; below the minimum, nothing that would be of use. */
const whole: Size = { width: 80, height: 24 };
export const least: Size = { width: 40, height: 10 };
/** Rows of the header and of the footer together, and those of a small screen. */
const frame = { whole: 5, small: 2 };

/** Whether a terminal has room for nothing. */
export function isTooSmall({ width, height }: Size): boolean {
  return width < least.width || height < least.height;
}

/** Whether a terminal has one line of header and one of footer. */
export function isSmall({ width, height }: Size): boolean {
  return width < whole.width || height < whole.height;
}

/** What a screen has to itself, between header and footer. */
export function bodyOf(size: Size): Size {
  const rows = size.height - (isSmall(size) ? frame.small : frame.whole);
  return { width: size.width, height: Math.max(1, rows) };
}
