/** Red, green and blue, 0–255. */
export type Rgb = readonly [red: number, green: number, blue: number];

/** Width and height in pixels. */
export type PixelSize = { readonly width: number; readonly height: number };

/** A picture in pixels: red, green, blue and opacity of each, row by row, with straight rather than premultiplied alpha. */
export type Raster = PixelSize & { readonly pixels: Uint8Array };

/** Where two pictures of the same size differ, with exclusive ends; null: nowhere. */
type Box = { readonly left: number; readonly top: number; readonly right: number; readonly bottom: number };

export function differenceOf(a: Raster, b: Raster): Box | null {
  const [before, after] = [wordsOf(a), wordsOf(b)];
  let [left, top, right, bottom] = [a.width, a.height, 0, 0];
  for (let row = 0, at = 0; row < a.height; row++) {
    for (let column = 0; column < a.width; column++, at++) {
      if (before[at] === after[at]) continue;
      if (row < top) top = row;
      bottom = row + 1;
      if (column < left) left = column;
      if (column >= right) right = column + 1;
    }
  }
  return right === 0 ? null : { left, top, right, bottom };
}

export function cropOf({ width, pixels }: Raster, { left, top, right, bottom }: Box): Raster {
  const size = { width: right - left, height: bottom - top };
  const cropped = new Uint8Array(size.width * size.height * 4);
  for (let row = 0; row < size.height; row++) {
    const from = ((top + row) * width + left) * 4;
    cropped.set(pixels.subarray(from, from + size.width * 4), row * size.width * 4);
  }
  return { ...size, pixels: cropped };
}

/** Each pixel as one number. */
export function wordsOf({ pixels }: Raster): Uint32Array {
  return new Uint32Array(pixels.buffer, pixels.byteOffset, pixels.byteLength / 4);
}

/** A picture whose pixels are indexes into a palette. Colours are as in `wordsOf`. */
type Indexed = { readonly places: Uint8Array; readonly palette: readonly number[] };

/** Reduces pixels to at most `most` colours, 256 at most: the most frequent ones; others are replaced by the nearest. */
export function indexed(words: Uint32Array, most: number): Indexed {
  const counts = new Map<number, number>();
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  const inOrder = [...counts].sort(([, a], [, b]) => b - a).map(([word]) => word);
  const palette = inOrder.slice(0, most);
  const colours = palette.map(partsOf);
  const known = new Map(inOrder.map((word, place) => [word, place < most ? place : nearest(partsOf(word), colours)]));
  const places = new Uint8Array(words.length);
  for (let at = 0; at < words.length; at++) places[at] = known.get(words[at]!)!;
  return { places, palette };
}

type Parts = readonly [red: number, green: number, blue: number, opacity: number];

/** The parts of a colour in the order of memory: red, green, blue, opacity. */
export function partsOf(word: number): Parts {
  const [red, green, blue, opacity] = new Uint8Array(Uint32Array.of(word).buffer);
  return [red!, green!, blue!, opacity!];
}

/** The nearest colour. A plain loop, since each of a thousand colours is compared with the whole palette. */
function nearest(colour: Parts, palette: readonly Parts[]): number {
  let [best, least] = [0, Infinity];
  for (let place = 0; place < palette.length; place++) {
    const other = palette[place]!;
    const distance =
      (colour[0] - other[0]) ** 2 +
      (colour[1] - other[1]) ** 2 +
      (colour[2] - other[2]) ** 2 +
      (colour[3] - other[3]) ** 2;
    if (distance < least) [best, least] = [place, distance];
  }
  return best;
}
