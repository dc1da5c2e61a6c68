import type { Tone } from '../span.js';
import type { Theme } from '../theme.js';
import type { Rgb } from './raster.js';

/** The sixteen colours of xterm. If a terminal uses others, lines in pictures differ slightly from their labels. */
const sixteen: readonly Rgb[] = [
  [0, 0, 0],
  [205, 0, 0],
  [0, 205, 0],
  [205, 205, 0],
  [0, 0, 238],
  [205, 0, 205],
  [0, 205, 205],
  [229, 229, 229],
  [127, 127, 127],
  [255, 0, 0],
  [0, 255, 0],
  [255, 255, 0],
  [92, 92, 255],
  [255, 0, 255],
  [0, 255, 255],
  [255, 255, 255],
];
/** Brightness steps of the colour cube. */
const steps = [0, 95, 135, 175, 215, 255];

/**
 * The colour of text with a tone. `isLight`: whether the terminal's background is light, for tones without a colour of their own.
 */
export function inkOf(theme: Theme, tone: Tone, isLight: boolean): Rgb {
  const codes = theme.sgr(tone, 'none');
  const [, index] = /(?:^|;)38;5;(\d+)/.exec(codes) ?? [];
  if (index !== undefined) return indexedColour(Number(index));
  const [, bright, number] = /(?:^|;)([39])([0-7])(?:;|$)/.exec(codes) ?? [];
  if (number !== undefined) return sixteen[Number(number) + (bright === '9' ? 8 : 0)]!;
  if (codes === '2') return [128, 128, 128];
  return isLight ? [40, 40, 40] : [220, 220, 220];
}

/** A colour of the table of 256. */
function indexedColour(index: number): Rgb {
  if (index < 16) return sixteen[index]!;
  if (index >= 232) {
    const grey = 8 + (index - 232) * 10;
    return [grey, grey, grey];
  }
  const cube = index - 16;
  return [steps[Math.floor(cube / 36)]!, steps[Math.floor(cube / 6) % 6]!, steps[cube % 6]!];
}

/** Whether dark text is readable on a colour. */
export function isLightColour([red, green, blue]: Rgb): boolean {
  return red * 0.299 + green * 0.587 + blue * 0.114 > 128;
}
