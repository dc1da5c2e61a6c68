import type { Tone } from '../span.js';
import type { Theme } from '../theme.js';
import type { Rgb } from './raster.js';

/** The sixteen colours as xterm has them. A terminal may have others; then a line of a picture is not quite that of its name. */
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
/** Brightness of the steps of the colour cube, and of what lies between black and white above it. */
const steps = [0, 95, 135, 175, 215, 255];

/** The colour in which text of a tone is seen. `isLight`: the terminal's ground, which a tone without a colour stands out from. */
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

/** Whether dark text is what can be read on it. */
export function isLightColour([red, green, blue]: Rgb): boolean {
  return red * 0.299 + green * 0.587 + blue * 0.114 > 128;
}
