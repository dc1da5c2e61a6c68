import { readSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { systemPrefix } from '../../../contract/metric-names.js';
import { FollowedBytes, type Taken, type Taker } from '../../../files/followed-file.js';
import { Fields, wire } from '../../binary/protobuf.js';
import { FilesInTurn, FollowedSource, type PickAt, PlacesPicker } from '../source-files.js';
import type { MetricFormat, RowSink, SourceFiles, SourceReader, WrittenRow } from '../format.js';
import { Media } from '../media.js';
import { BLOCK, FILE_HEAD, itemsIn, kind, pieceAt, takeItem } from './wandb-items.js';
import { WandbRun } from './wandb-run.js';

/**
 * Local files of W&B, offline or not: `wandb/run-…/run-….wandb`. Of their protobuf records,
 * those of the history are rows, those of the machine's statistics rows of `system/…`; all others: `WandbRun`.
 *
 * Each start of a run has its own folder, with the time in its name; files of the same run are its attempts.
 */
export const wandb: MetricFormat = {
  name: 'W&B',
  looksFor: 'wandb/*run-*/*.wandb',
  filing: 'rows',
  isNamed: (name) => name.endsWith('.wandb'),
  runIn: (name) => /^run-(.+)\.wandb$/.exec(name)?.[1] ?? null,
  recognise: ({ name, path }) => ({ is: 'yes', why: 'its name', source: join(dirname(dirname(path)), name) }),
  open: (files) => new WandbFiles(files),
  pickFrom: (path, places) => new PlacesPicker(path, places, pickBlocks()),
};

/** Limit on the size of a record, bytes: a longer one is not a row of numbers. */
const LONGEST = 4 << 20;
const lost = `up to ${BLOCK >> 10} KB are left out`;

/** The files of the attempts at one run, and what all of them say of it. */
class WandbFiles extends FilesInTurn {
  readonly declared: WandbRun;

  constructor(files: SourceFiles) {
    const declared = new WandbRun();
    super(files, (path) => new WandbFile(path, declared));
    this.declared = declared;
  }

  get media(): readonly string[] {
    return Media.wordsOf([this.declared.media]);
  }
}

class WandbFile extends FollowedSource<FollowedBytes> implements SourceReader {
  readonly #run: WandbRun;
  /** Pieces of an incomplete record, and their length; null: none has begun. The first may be empty, at the end of a block. */
  #pieces: Buffer[] = [];
  #length: number | null = null;

  constructor(path: string, run: WandbRun) {
    super(new FollowedBytes(path));
    this.#run = run;
  }

  read(maxBytes: number, sink: RowSink): boolean {
    const take: Taker = (bytes, { isNew, idleMs }) => {
      if (isNew) this.#restart(sink);
      return this.#take(bytes, idleMs, sink);
    };
    return this.follow((file) => file.read(maxBytes, take));
  }

  #restart(sink: RowSink): void {
    this.forget();
    this.#pieces = [];
    this.#length = null;
    this.#run.forget();
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
        if (this.isStillWritten(base + at, idleMs, lost)) return { done: at, needs: 0 };
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

  #takePiece(type: number, piece: Buffer, sink: RowSink): void {
    if (type === kind.full) return takeRecord(piece, sink, this.#run);
    if (type === kind.first) {
      this.#pieces = [];
      this.#length = 0;
    } else if (this.#length === null) return;
    this.#length += piece.length;
    // A copy, as a slice would keep all of the read buffer in memory.
    if (this.#length <= LONGEST) this.#pieces.push(Buffer.from(piece));
    else this.#pieces = [];
    if (type !== kind.last) return;
    if (this.#length <= LONGEST) takeRecord(Buffer.concat(this.#pieces), sink, this.#run);
    this.#pieces = [];
    this.#length = null;
  }
}

const record = { history: 2, stats: 7 };
const history = { item: 1, step: 2 };
const stats = { timestamp: 2, item: 3 };
/** W&B's own keys. */
const own = /^_(wandb|step|timestamp|runtime)\b/;

function takeRecord(bytes: Buffer, { row }: Pick<RowSink, 'row'>, run: WandbRun): void {
  const fields = new Fields().walk(bytes, 0, bytes.length);
  while (fields.next()) {
    if (fields.is(record.stats, wire.bytes)) return takeStats(bytes, fields, row);
    if (!fields.is(record.history, wire.bytes)) continue;
    const values = historyRow(bytes, fields, run);
    const time = values['_timestamp'];
    run.wrote(values);
    if (Object.keys(values).some((key) => !own.test(key))) row(values, typeof time === 'number' ? time * 1000 : NaN);
    return;
  }
  run.takeRecord(bytes);
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

function historyRow(bytes: Buffer, { start: from, end: to }: Fields, run: WandbRun): WrittenRow {
  const row: Record<string, unknown> = {};
  const fields = new Fields().walk(bytes, from, to);
  const inner = new Fields();
  let hasMedia = false;
  while (fields.next()) {
    if (fields.is(history.item, wire.bytes))
      hasMedia = takeItem(inner.walk(bytes, fields.start, fields.end), row) || hasMedia;
    else if (fields.is(history.step, wire.bytes)) {
      inner.walk(bytes, fields.start, fields.end);
      while (inner.next()) if (inner.is(1, wire.varint)) row['_step'] = inner.integer;
    }
  }
  if (hasMedia) run.takeMedia(row);
  return row;
}

/** Number of rows taken at each place. */
const ROWS = 8;

/** Picks rows from two blocks at each place. Records in several pieces are skipped. */
function pickBlocks(): PickAt {
  const buffer = Buffer.alloc(2 * BLOCK);
  const run = new WandbRun();
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
      if (piece.is === 'piece' && piece.type === kind.full)
        takeRecord(bytes.subarray(piece.from, piece.to), { row }, run);
      at = piece.to;
    }
  };
}
