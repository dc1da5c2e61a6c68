import type { Tone } from '../../../surface/span.js';
import { solid } from './braille-canvas.js';

/**
 * The dashes of the eight curves, as `BrailleCanvas.dash` takes them: which of eight columns of dots are drawn. They differ in how
 * long the dashes are, so that they are still told apart where a line is steep.
 */
const patterns = [solid, 0x1f, 0x4f, 0x33, 0x07, 0x11, 0x5f, 0x27] as const;

/** The dashes of a curve of this tone; a solid line for what is no curve. */
export function dashesOf(tone: Tone): number {
  const number = /^curve(\d)$/.exec(tone)?.[1];
  return number === undefined ? solid : patterns[Number(number)]!;
}

/** What stands for a line in a legend: a piece of it, and a space. `hasDashes`: as lines are drawn. */
export function lineSign(tone: Tone, hasDashes: boolean): string {
  if (!hasDashes) return '━ ';
  const pattern = dashesOf(tone);
  const cells = [0, 2, 4, 6].map((column) => strokes[(pattern >> column) & 3]);
  return `${cells.join('')} `;
}

/** A character of a line with neither, the left, the right and both columns of dots. */
const strokes = [' ', '⠂', '⠐', '⠒'] as const;
