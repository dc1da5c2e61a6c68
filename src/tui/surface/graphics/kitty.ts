import { pngOf } from './png.js';
import type { Raster } from './raster.js';

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
