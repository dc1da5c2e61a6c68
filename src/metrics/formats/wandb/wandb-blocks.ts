import { crc32 } from 'node:zlib';

/** Size of a block, bytes. The files of W&B are logs in the format of LevelDB; checksums are zlib's CRC-32, despite W&B's comments. */
export const BLOCK = 32_768;
const HEAD = 7;
/** Size of the file header, bytes: `:W&B`, a magic number, a version. The header is part of the first block. */
export const FILE_HEAD = 7;
export const kind = { full: 1, first: 2, middle: 3, last: 4 };

/** The content of a file of blocks at some offset. `data`: a piece of a record. `skip`: nothing relevant. */
type Piece =
  | { is: 'piece'; type: number; from: number; to: number }
  | { is: 'skip'; to: number }
  | { is: 'torn' }
  | { is: 'wrong' };

/** @param base Offset of `bytes` in the file. */
export function pieceAt(bytes: Buffer, at: number, base: number): Piece {
  const left = BLOCK - ((base + at) % BLOCK);
  if (left < HEAD) return at + left <= bytes.length ? { is: 'skip', to: at + left } : { is: 'torn' };
  if (at + HEAD > bytes.length) return { is: 'torn' };
  const length = bytes.readUInt16LE(at + 4);
  const type = bytes[at + 6]!;
  if (type < kind.full || type > kind.last || HEAD + length > left) return { is: 'wrong' };
  const to = at + HEAD + length;
  if (to > bytes.length) return { is: 'torn' };
  const isSound = crc32(bytes.subarray(at + 6, to)) === bytes.readUInt32LE(at);
  return isSound ? { is: 'piece', type, from: at + HEAD, to } : { is: 'wrong' };
}

/** Whole records in `bytes`, which begin at a block: `base` is their place in the file. Ends where something is torn or damaged. */
export function* recordsIn(bytes: Buffer, base: number): Generator<Buffer> {
  let pieces: Buffer[] = [];
  for (let at = base === 0 ? FILE_HEAD : 0; at < bytes.length;) {
    const piece = pieceAt(bytes, at, base);
    if (!('to' in piece)) return;
    at = piece.to;
    if (piece.is === 'skip') continue;
    const part = bytes.subarray(piece.from, piece.to);
    if (piece.type <= kind.first) pieces = [part];
    // Of a record that began before, the rest is no record.
    else if (pieces.length > 0) pieces.push(part);
    const isEnd = piece.type === kind.full || piece.type === kind.last;
    if (!isEnd || pieces.length === 0) continue;
    yield joined(pieces);
    pieces = [];
  }
}

/** The pieces as one; a single one is not copied. */
function joined(pieces: readonly Buffer[]): Buffer {
  return pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces);
}
