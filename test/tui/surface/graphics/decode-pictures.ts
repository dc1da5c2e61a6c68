import { crc32, inflateSync } from 'node:zlib';
import type { Raster } from '../../../../src/tui/surface/graphics/raster.js';

/** A picture that was sent to a terminal, and the cell where it begins, counted from 0. */
export type SentPicture = Raster & { readonly column: number; readonly row: number; readonly control: string };

/** The pictures in what was written to a terminal by kitty's graphics protocol, in their order. */
export function kittyPictures(output: string): SentPicture[] {
  const pictures: SentPicture[] = [];
  const begun =
    /\u001b\[(\d+);(\d+)H\u001b_G(a=T[^;]*);([^\u001b]*)\u001b\\((?:\u001b_Gq=2,m=[01];[^\u001b]*\u001b\\)*)/g;
  for (const [, row, column, control, first, more] of output.matchAll(begun)) {
    const chunks = [first!, ...[...more!.matchAll(/;([^\u001b]*)\u001b/g)].map(([, chunk]) => chunk!)];
    const place = { column: Number(column) - 1, row: Number(row) - 1 };
    pictures.push({ ...place, control: control!, ...rasterOf(Buffer.from(chunks.join(''), 'base64')) });
  }
  return pictures;
}

/** Reads a PNG of one byte a pixel that are places in a palette, without filters. */
function rasterOf(png: Buffer): Raster {
  const chunks = new Map<string, Buffer>();
  for (let at = 8; at < png.length; at += png.readUInt32BE(at) + 12) {
    const data = png.subarray(at + 8, at + 8 + png.readUInt32BE(at));
    chunks.set(png.toString('latin1', at + 4, at + 8), data);
    if (crc32(png.subarray(at + 4, at + 8 + data.length)) !== png.readUInt32BE(at + 8 + data.length))
      throw new Error('A chunk is damaged.');
  }
  const [head, colours, opacities] = ['IHDR', 'PLTE', 'tRNS'].map((type) => chunks.get(type)!);
  const [width, height] = [head!.readUInt32BE(0), head!.readUInt32BE(4)];
  const rows = inflateSync(chunks.get('IDAT')!);
  const pixels = new Uint8Array(width * height * 4);
  for (let pixel = 0; pixel < width * height; pixel++) {
    const row = Math.floor(pixel / width);
    if (rows[row * (width + 1)] !== 0) throw new Error('A row is filtered.');
    const place = rows[row * (width + 1) + 1 + (pixel % width)]!;
    pixels.set([...colours!.subarray(place * 3, place * 3 + 3), opacities![place]!], pixel * 4);
  }
  return { width, height, pixels };
}

/** The same of sixels. */
export function sixelPictures(output: string): SentPicture[] {
  const begun = /\u001b\[(\d+);(\d+)H\u001bP0;1;0q"1;1;(\d+);(\d+)([^\u001b]*)\u001b\\/g;
  return [...output.matchAll(begun)].map(([control, row, column, width, height, body]) => {
    const size = { width: Number(width), height: Number(height) };
    const place = { column: Number(column) - 1, row: Number(row) - 1 };
    return { ...place, control, ...size, pixels: sixels(body!, size) };
  });
}

function sixels(body: string, { width, height }: { width: number; height: number }): Uint8Array {
  const pixels = new Uint8Array(width * height * 4);
  const palette = new Map<string, readonly number[]>();
  let [colour, x, y] = [[] as readonly number[], 0, 0];
  for (const [item] of body.matchAll(/#\d+;2;\d+;\d+;\d+|#\d+|!\d+.|[$-]|[?-~]/g)) {
    if (item === '$') x = 0;
    else if (item === '-') [x, y] = [0, y + 6];
    else if (item.startsWith('#')) {
      const [name, , ...parts] = item.split(';');
      if (parts.length > 0)
        palette.set(
          name!,
          parts.map((part) => Math.round((Number(part) * 255) / 100)),
        );
      else colour = palette.get(name!)!;
    } else {
      const count = item.startsWith('!') ? Number(/\d+/.exec(item)![0]) : 1;
      const bits = item.charCodeAt(item.length - 1) - 0x3f;
      for (const end = x + count; x < end; x++) {
        for (let bit = 0; bit < 6; bit++) {
          if (((bits >> bit) & 1) === 1) pixels.set([...colour, 255], ((y + bit) * width + x) * 4);
        }
      }
    }
  }
  return pixels;
}
