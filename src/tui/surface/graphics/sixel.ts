import { indexed, partsOf, type Raster, type Rgb, wordsOf } from './raster.js';

/** Number of colours, and the background that shows through pixels that are not opaque. */
type SixelPaper = { readonly colours: number; readonly background: Rgb };

/** Rows of pixels per sixel character. */
const band = 6;
/** Colour word of fully transparent pixels, which are not drawn. */
const nothing = 0;

/**
 * The codes that draw a picture from the cursor on as sixels, as defined for the VT340. Fully transparent pixels are left
 * unchanged. If there are more colours than the terminal has, the rarest are replaced by the nearest of the others.
 */
export function sixelPicture(raster: Raster, { colours, background }: SixelPaper): string {
  const { width, height } = raster;
  // One more than the number of registers, because transparent pixels need none.
  const { places, palette } = indexed(wordsOf(onBackground(raster, background)), Math.min(256, colours + 1));
  const none = palette.indexOf(nothing);
  const registers = palette.map((_, place) => (none >= 0 && place > none ? place - 1 : place));
  const shades = palette.map((word, place) => (place === none ? '' : shadeOf(word, registers[place]!)));
  const bands: string[] = [];
  for (let top = 0; top < height; top += band) {
    const bits = bitsOf(places, { width, top, bottom: Math.min(height, top + band), none });
    bands.push([...bits].map(([place, row]) => `#${registers[place]!}${runs(row)}`).join('$'));
  }
  // 1: transparent pixels stay unchanged. Pixels are square.
  return `\u001bP0;1;0q"1;1;${width};${height}${shades.join('')}${bands.join('-')}\u001b\\`;
}

/** The code of a colour register, in percent as sixels require. */
function shadeOf(word: number, register: number): string {
  const percent = partsOf(word).map((part) => Math.round((part * 100) / 255));
  return `#${register};2;${percent.slice(0, 3).join(';')}`;
}

/** The picture blended with the background. */
function onBackground({ width, height, pixels }: Raster, background: Rgb): Raster {
  const seen = new Uint8Array(pixels.length);
  for (let at = 0; at < pixels.length; at += 4) {
    const opacity = pixels[at + 3]! / 255;
    if (opacity === 0) continue;
    for (let part = 0; part < 3; part++) {
      seen[at + part] = Math.round(pixels[at + part]! * opacity + background[part]! * (1 - opacity));
    }
    seen[at + 3] = 255;
  }
  return { width, height, pixels: seen };
}

type Strip = { readonly width: number; readonly top: number; readonly bottom: number; readonly none: number };

/** Which of the six rows have a colour, column by column. */
function bitsOf(places: Uint8Array, { width, top, bottom, none }: Strip): Map<number, Uint8Array> {
  const rows = new Map<number, Uint8Array>();
  for (let row = top; row < bottom; row++) {
    for (let column = 0, at = row * width; column < width; column++, at++) {
      const place = places[at]!;
      if (place === none) continue;
      let bits = rows.get(place);
      if (bits === undefined) rows.set(place, (bits = new Uint8Array(width)));
      bits[column]! |= 1 << (row - top);
    }
  }
  return rows;
}

/** Run-length encoding; empty columns at the end are left out. */
function runs(bits: Uint8Array): string {
  let text = '';
  let end = bits.length;
  while (end > 0 && bits[end - 1] === 0) end--;
  for (let from = 0, to = 0; from < end; from = to) {
    while (to < end && bits[to] === bits[from]) to++;
    const character = String.fromCharCode(0x3f + bits[from]!);
    text += to - from > 3 ? `!${to - from}${character}` : character.repeat(to - from);
  }
  return text;
}
