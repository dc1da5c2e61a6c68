import { crc32, deflateSync } from 'node:zlib';
import { indexed, partsOf } from './indexed.js';
import { type Raster, wordsOf } from './raster.js';

const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
/** Bits per pixel, palette as colour type, and the only methods of compression, filtering and interlacing. */
const format = [8, 3, 0, 0, 0];

/** A picture as PNG with a palette of at most 256 colours, a third of the size of compressed raw pixels. */
export function pngOf(raster: Raster): Buffer {
  const { width, height } = raster;
  const { places, palette } = indexed(wordsOf(raster), 256);
  const colours = palette.map(partsOf);
  const head = Buffer.alloc(8);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  // Each row begins with filter type 0, since filters do not help for palette indexes.
  const rows = Buffer.alloc((width + 1) * height);
  for (let row = 0; row < height; row++)
    rows.set(places.subarray(row * width, (row + 1) * width), row * (width + 1) + 1);
  return Buffer.concat([
    signature,
    chunk('IHDR', Buffer.concat([head, Buffer.from(format)])),
    chunk('PLTE', Buffer.from(colours.flatMap(([red, green, blue]) => [red, green, blue]))),
    chunk('tRNS', Buffer.from(colours.map(([, , , opacity]) => opacity))),
    chunk('IDAT', deflateSync(rows)),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(data.length);
  const check = Buffer.alloc(4);
  check.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, check]);
}
