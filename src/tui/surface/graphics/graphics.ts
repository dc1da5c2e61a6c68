import type { PixelSize, Rgb } from './raster.js';

/** How a terminal takes pictures. */
export type GraphicsProtocol = 'kitty' | 'sixel';

/** What is known of a terminal that shows pictures. */
export type Graphics = {
  readonly protocol: GraphicsProtocol;
  /** Pixels of a character. */
  readonly cell: PixelSize;
  /** Colours that one picture can have, where the protocol has a palette. */
  readonly colours: number;
  /** What the terminal draws on. */
  readonly background: Rgb;
};
