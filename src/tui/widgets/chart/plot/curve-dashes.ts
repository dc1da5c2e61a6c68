import type { Tone } from '../../../surface/span.js';
import { solid } from './braille-canvas.js';

/**
 * Dash patterns of the eight curves for `BrailleCanvas.dash`: the columns of dots, out of eight, that are drawn. Their dashes
 * differ in length, so that steep lines can be distinguished as well.
 */
const patterns = [solid, 0x1f, 0x4f, 0x33, 0x07, 0x11, 0x5f, 0x27] as const;

/** The dashes of a curve with this tone; solid for anything else. */
export function dashesOf(tone: Tone): number {
  const number = /^curve(\d)$/.exec(tone)?.[1];
  return number === undefined ? solid : patterns[Number(number)]!;
}

/** The symbol of a line in a legend: a piece of it, and a space. `hasDashes`: as for the lines. */
export function lineSign(tone: Tone, hasDashes: boolean): string {
  if (!hasDashes) return '━ ';
  const pattern = dashesOf(tone);
  const cells = [0, 2, 4, 6].map((column) => strokes[(pattern >> column) & 3]);
  return `${cells.join('')} `;
}

/** Characters of a line with neither, the left, the right and both columns of dots. */
const strokes = [' ', '⠂', '⠐', '⠒'] as const;
