import type { PixelSize, Rgb } from './raster.js';

/** Protocol for showing pictures in a terminal. */
export type GraphicsProtocol = 'kitty' | 'sixel';

/** Properties of a terminal that shows pictures. */
export type Graphics = {
  readonly protocol: GraphicsProtocol;
  /** Size of a character in pixels. */
  readonly cell: PixelSize;
  /** Maximum number of colours in one picture, for protocols with a palette. */
  readonly colours: number;
  /** Background colour of the terminal. */
  readonly background: Rgb;
};
