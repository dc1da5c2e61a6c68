import { type Raster, wordsOf } from './raster.js';
import { crc32, deflateSync } from 'node:zlib';
import { indexed, partsOf } from './indexed.js';

/** A picture in the terminal: its number, and the cells it fills from the cursor on. */
type Placement = { readonly id: number; readonly columns: number; readonly rows: number };

/** Maximum number of base64 characters in one sequence according to the protocol. */
const mostInChunk = 4096;
/** Options: below the text, so that letters stay readable; without moving the cursor; without answers. */
const below = 'p=1,z=-1,C=1,q=2';

/**
 * The codes that show a picture from the cursor on, scaled to its cells, in kitty's graphics protocol
 * (https://sw.kovidgoyal.net/kitty/graphics-protocol/). Replaces an earlier picture with the same number.
 */
export function kittyPicture(raster: Raster, { id, columns, rows }: Placement): string {
  const data = pngOf(raster).toString('base64');
  const head = `a=T,f=100,i=${id},c=${columns},r=${rows},${below}`;
  const chunks = Math.max(1, Math.ceil(data.length / mostInChunk));
  return Array.from({ length: chunks }, (_, index) => {
    const more = index < chunks - 1 ? 1 : 0;
    const control = index === 0 ? `${head},m=${more}` : `q=2,m=${more}`;
    return command(control, data.slice(index * mostInChunk, (index + 1) * mostInChunk));
  }).join('');
}

/** Shows a transmitted picture again, because some terminals remove it from cells that are written. */
export function kittyPlacement({ id, columns, rows }: Placement): string {
  return command(`a=p,i=${id},c=${columns},r=${rows},${below}`);
}

/** Deletes a picture wherever it is shown. */
export function kittyRemoval(id: number): string {
  return command(`a=d,d=I,i=${id},q=2`);
}

function command(control: string, data = ''): string {
  return `\u001b_G${control}${data === '' ? '' : `;${data}`}\u001b\\`;
}

const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
/** Bits per pixel, palette as colour type, and the only methods of compression, filtering and interlacing. */
const format = [8, 3, 0, 0, 0];

/** A picture as PNG with a palette of at most 256 colours, a third of the size of compressed raw pixels. */
function pngOf(raster: Raster): Buffer {
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
