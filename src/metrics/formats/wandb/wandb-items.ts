import { crc32 } from 'node:zlib';
import { parseJsonLine } from '../../../contract/json-line.js';
import { Fields, wire } from '../../binary/protobuf.js';
import { RepeatedNames } from '../../binary/repeated-names.js';
import type { WrittenRow } from '../format.js';

const item = { key: 1, nested: 2, json: 16 };
/** Marks what is no number in a row: `hist._type` is the type of `hist`, all of whose parts have longer names. */
export const TYPE = '._type';

/** The items of a message that has them in a field of this number: keys and values. */
export function itemsIn(bytes: Buffer, from: number, to: number, number: number): WrittenRow {
  const row: Record<string, unknown> = {};
  const fields = new Fields().walk(bytes, from, to);
  const inner = new Fields();
  while (fields.next()) if (fields.is(number, wire.bytes)) takeItem(inner.walk(bytes, fields.start, fields.end), row);
  return row;
}

/** Runs of a project have the same keys. */
const names = new RepeatedNames();

/** Puts an item into a row; returns true for the type of what is no number. */
export function takeItem(fields: Fields, row: Record<string, unknown>): boolean {
  let key = '';
  let nested = '';
  let value: unknown;
  while (fields.next()) {
    const { bytes, start, end } = fields;
    if (fields.is(item.json, wire.bytes)) value = valueOf(fields);
    else if (fields.is(item.key, wire.bytes)) key = names.at(bytes, start, end);
    else if (fields.is(item.nested, wire.bytes)) {
      const part = names.at(bytes, start, end);
      nested = nested === '' ? part : `${nested}.${part}`;
    }
  }
  const name = nested || key;
  if (name === '' || name.startsWith('_wandb')) return false;
  return put(row, name, value) || name.endsWith(TYPE);
}

/** Puts a value into a row; returns true if only its type was put there, as it is no number. */
function put(row: Record<string, unknown>, name: string, value: unknown): boolean {
  const isTyped = typeof value === 'object' && value !== null && '_type' in value;
  if (isTyped) row[name + TYPE] = value._type;
  else row[name] = (typeof value === 'string' ? numbers[value] : undefined) ?? value;
  return isTyped;
}

/** Stored as texts. */
const numbers: Readonly<Record<string, number>> = { NaN, Infinity, '-Infinity': -Infinity };

const [MINUS, ZERO, NINE] = [0x2d, 0x30, 0x39];

/** A value from its JSON. Nearly all are numbers, for which the parser of whole lines takes several times as long. */
function valueOf({ bytes, start, text }: Fields): unknown {
  const first = bytes[start]!;
  const number = first === MINUS || (first >= ZERO && first <= NINE) ? Number(text) : NaN;
  return Number.isNaN(number) ? parseJsonLine(`{"value":${text}}`)?.['value'] : number;
}

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
