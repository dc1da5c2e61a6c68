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
