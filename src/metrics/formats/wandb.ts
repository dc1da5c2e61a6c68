import { readSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { crc32 } from 'node:zlib';
import { parseJsonLine } from '../../contract/json-line.js';
import { systemPrefix } from '../../contract/metric-names.js';
import { FollowedBytes, type Taken, type Taker } from '../../files/followed-bytes.js';
import { Fields, wire } from '../binary/protobuf.js';
import { RepeatedNames } from '../binary/repeated-names.js';
import { FilesInTurn } from './files-in-turn.js';
import { FollowedSource } from './followed-source.js';
import type { MetricFormat, RowSink, SourceReader, WrittenRow } from './format.js';
import { type PickAt, PlacesPicker } from './places-picker.js';

/**
 * Local files of W&B, offline or not: `wandb/run-…/run-….wandb`. They are logs in the format of LevelDB, in blocks of 32 KB, with
 * protobuf records; records of the history are rows, and those of the machine's statistics rows of `system/…`. (Checksums are zlib's CRC-32, despite W&B's comments.)
 *
 * Each start of a run has its own folder, with the time in its name; files of the same run are its attempts.
 */
export const wandb: MetricFormat = {
  name: 'W&B',
  looksFor: 'wandb/*run-*/*.wandb',
  filing: 'rows',
  isNamed: (name) => name.endsWith('.wandb'),
  recognise: ({ name, path }) => ({ is: 'yes', why: 'its name', source: join(dirname(dirname(path)), name) }),
  open: (files) => new FilesInTurn(files, (path) => new WandbFile(path)),
  pickFrom: (path, places) => new PlacesPicker(path, places, pickBlocks()),
};

export const BLOCK = 32_768;
const HEAD = 7;
/** The file header: `:W&B`, a magic number, a version. It is part of the first block. */
const FILE_HEAD = 7;
const kind = { full: 1, first: 2, middle: 3, last: 4 };
/** Limit on the size of a record, bytes: a longer one is not a row of numbers. */
const LONGEST = 4 << 20;
/** A checksum that is still wrong after this time means damage, ms. */
const DAMAGED_MS = 30_000;

/** The content of a file of blocks at some offset. `data`: a piece of a record. `skip`: nothing relevant. */
type Piece =
  | { is: 'piece'; type: number; from: number; to: number }
  | { is: 'skip'; to: number }
  | { is: 'torn' }
  | { is: 'wrong' };

/** @param base Offset of `bytes` in the file. */
function pieceAt(bytes: Buffer, at: number, base: number): Piece {
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

class WandbFile extends FollowedSource<FollowedBytes> implements SourceReader {
  /** Pieces of an incomplete record. */
  #pieces: Buffer[] = [];
  #length = 0;
  #doubt: { offset: number; since: number } | null = null;
  #lost: string | null = null;

  constructor(path: string) {
    super(new FollowedBytes(path));
  }

  protected override get loss(): string | null {
    return this.#lost;
  }

  read(maxBytes: number, sink: RowSink): boolean {
    const take: Taker = (bytes, { isNew, idleMs }) => {
      if (isNew) this.#restart(sink);
      return this.#take(bytes, idleMs, sink);
    };
    return this.follow((file) => file.read(maxBytes, take)) !== 'nothing';
  }

  #restart(sink: RowSink): void {
    this.#pieces = [];
    this.#length = 0;
    this.#doubt = null;
    this.#lost = null;
    sink.restart();
  }

  #take(bytes: Buffer, idleMs: number, sink: RowSink): Taken {
    const base = this.file.offset;
    if (base === 0 && bytes.length < FILE_HEAD) return { done: 0, needs: 0 };
    let at = base === 0 ? FILE_HEAD : 0;
    for (;;) {
      const piece = pieceAt(bytes, at, base);
      if (piece.is === 'torn') return { done: at, needs: BLOCK };
      if (piece.is === 'wrong') {
        if (this.#isStillWritten(base + at, idleMs)) return { done: at, needs: 0 };
        // As in LevelDB, the rest of the block is lost.
        const next = at + BLOCK - ((base + at) % BLOCK);
        if (next > bytes.length) return { done: at, needs: BLOCK };
        at = next;
        this.#pieces = [];
        continue;
      }
      if (piece.is === 'piece') this.#takePiece(piece.type, bytes.subarray(piece.from, piece.to), sink);
      at = piece.to;
    }
  }

  #isStillWritten(offset: number, idleMs: number): boolean {
    if (this.#doubt?.offset !== offset) this.#doubt = { offset, since: performance.now() };
    if (idleMs <= DAMAGED_MS && performance.now() - this.#doubt.since <= DAMAGED_MS) {
      this.file.lookAgain();
      return true;
    }
    this.#lost = `${basename(this.file.path)} is damaged at byte ${offset}: up to ${BLOCK >> 10} KB are left out`;
    return false;
  }

  #takePiece(type: number, piece: Buffer, sink: RowSink): void {
    if (type === kind.full) return takeRecord(piece, sink);
    if (type === kind.first) {
      this.#pieces = [];
      this.#length = 0;
    } else if (this.#length === 0) return;
    this.#length += piece.length;
    // A copy, as a slice would keep all of the read buffer in memory.
    if (this.#length <= LONGEST) this.#pieces.push(Buffer.from(piece));
    else this.#pieces = [];
    if (type !== kind.last) return;
    if (this.#length <= LONGEST) takeRecord(Buffer.concat(this.#pieces), sink);
    this.#pieces = [];
    this.#length = 0;
  }
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

const record = { history: 2, stats: 7 };
const history = { item: 1, step: 2 };
const stats = { timestamp: 2, item: 3 };
const item = { key: 1, nested: 2, json: 16 };
/** W&B's own keys. */
const own = /^_(wandb|step|timestamp|runtime)\b/;

function takeRecord(bytes: Buffer, { row }: Pick<RowSink, 'row'>): void {
  const fields = new Fields().walk(bytes, 0, bytes.length);
  while (fields.next()) {
    if (fields.is(record.stats, wire.bytes)) takeStats(bytes, fields, row);
    if (!fields.is(record.history, wire.bytes)) continue;
    const values = historyRow(bytes, fields.start, fields.end);
    const time = values['_timestamp'];
    if (Object.keys(values).some((key) => !own.test(key))) row(values, typeof time === 'number' ? time * 1000 : NaN);
  }
}

/** The use of the machine at some time, by W&B's names: `system/gpu.0.gpu`. */
function takeStats(bytes: Buffer, { start, end }: Fields, row: RowSink['row']): void {
  const values = itemsIn(bytes, start, end, stats.item);
  const named = Object.entries(values).map(([key, value]) => [systemPrefix + key, value] as const);
  if (named.length > 0) row(Object.fromEntries(named), timestampIn(bytes, start, end));
}

/** Unix ms; NaN: it has none. */
function timestampIn(bytes: Buffer, from: number, to: number): number {
  const fields = new Fields().walk(bytes, from, to);
  const inner = new Fields();
  while (fields.next()) {
    if (!fields.is(stats.timestamp, wire.bytes)) continue;
    inner.walk(bytes, fields.start, fields.end);
    while (inner.next()) if (inner.is(1, wire.varint)) return inner.integer * 1000;
  }
  return NaN;
}

function historyRow(bytes: Buffer, from: number, to: number): WrittenRow {
  const row: Record<string, unknown> = {};
  const fields = new Fields().walk(bytes, from, to);
  const inner = new Fields();
  while (fields.next()) {
    if (fields.is(history.item, wire.bytes)) takeItem(inner.walk(bytes, fields.start, fields.end), row);
    else if (fields.is(history.step, wire.bytes)) {
      inner.walk(bytes, fields.start, fields.end);
      while (inner.next()) if (inner.is(1, wire.varint)) row['_step'] = inner.integer;
    }
  }
  return row;
}

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

function takeItem(fields: Fields, row: Record<string, unknown>): void {
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
  const name = nested === '' ? key : nested;
  if (name !== '' && !name.startsWith('_wandb')) row[name] = special(value) ?? value;
}

const [MINUS, ZERO, NINE] = [0x2d, 0x30, 0x39];

/** A value from its JSON. Nearly all are numbers, for which the parser of whole lines takes several times as long. */
function valueOf({ bytes, start, text }: Fields): unknown {
  const first = bytes[start]!;
  const number = first === MINUS || (first >= ZERO && first <= NINE) ? Number(text) : NaN;
  return Number.isNaN(number) ? parseJsonLine(`{"value":${text}}`)?.['value'] : number;
}

/**
 * Converts a value; null: it stays as it is. NaN and infinities are stored as texts. Pictures, histograms and tables are objects
 * with a type, and are no metrics.
 */
function special(value: unknown): unknown {
  if (value === 'NaN' || value === 'Infinity' || value === '-Infinity') return Number(value);
  return typeof value === 'object' && value !== null && '_type' in value ? '' : null;
}

/** Number of rows taken at each place. */
const ROWS = 8;

/** Picks rows from two blocks at each place. Records in several pieces are skipped. */
function pickBlocks(): PickAt {
  const buffer = Buffer.alloc(2 * BLOCK);
  return (descriptor, { size, share }, take) => {
    const blocks = Math.ceil(size / BLOCK);
    const base = BLOCK * Math.floor(Math.max(0, blocks - 2) * share);
    const bytes = buffer.subarray(0, readSync(descriptor, buffer, 0, 2 * BLOCK, base));
    let left = ROWS;
    const row = (values: WrittenRow, time?: number) => {
      if (left-- > 0) take(values, time);
    };
    for (let at = base === 0 ? FILE_HEAD : 0; left > 0;) {
      const piece = pieceAt(bytes, at, base);
      if (piece.is === 'torn' || piece.is === 'wrong') return;
      if (piece.is === 'piece' && piece.type === kind.full) takeRecord(bytes.subarray(piece.from, piece.to), { row });
      at = piece.to;
    }
  };
}
