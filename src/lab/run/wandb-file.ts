import { randomBytes } from 'node:crypto';
import { appendFileSync, existsSync, readdirSync } from 'node:fs';
import { hostname } from 'node:os';
import { basename, join } from 'node:path';
import { crc32 } from 'node:zlib';
import type { Row } from './metrics-file.js';
import { message, text, varintField } from './protobuf-writer.js';
import { makeMissing } from './make-directory.js';

/** Settings of a run for W&B. `name`: display name there; null: the name of its directory. */
export type WandbRun = {
  readonly project: string;
  readonly name: string | null;
  readonly config: Readonly<Record<string, unknown>>;
};

/** The W&B settings in a run's keys; null when it does not log to W&B. */
export function wandbRun(
  config: Readonly<Record<string, unknown>> & {
    readonly wandb_project: string | null;
    readonly wandb_name: string | null;
  },
): WandbRun | null {
  const { wandb_project: project, wandb_name: name } = config;
  return project === null ? null : { project, name, config };
}

/** A W&B file: rows, and at last the exit code. */
type WandbFile = {
  /** @param sample The policy's last sample, as HTML. */
  readonly append: (row: Row & { readonly step: number }, sample?: string | null) => void;
  readonly end: (exitCode: number) => void;
};

/**
 * A file of this attempt for W&B's client: `wandb/offline-run-<time>-<id>/run-<id>.wandb`, as the client writes it
 * when offline (0.31.0). Nothing is sent from here: `wandb sync wandb/offline-run-*` does that. All attempts at a run
 * have one id, and later ones are marked as its continuation; the client sends them in their order.
 *
 * @param time Unix ms.
 */
export function openWandb(directory: string, run: WandbRun, time: () => number): WandbFile {
  const { id, path, isFirst } = freshFile(join(directory, 'wandb'), time());
  const began = time();
  const log = recordLog(path);
  let count = 0;
  const write = (...fields: Uint8Array[]) => log(Buffer.concat([varintField(record.num, ++count), ...fields]));
  const of = message(record.info, [text(streamId, id)]);
  const version = message(header.version, [text(1, 'memrl'), text(2, '0.70.0')]);
  write(message(record.header, [version]), of);
  const name = run.name ?? basename(directory);
  write(message(record.run, runFields({ ...run, id, name }, { began, isFirst })), of);
  return {
    append: ({ step, ...values }, sample = null) => {
      const now = time();
      const own = { _step: step, _timestamp: now / 1000, _runtime: (now - began) / 1000 };
      const items = Object.entries({ ...values, ...own }).map(([key, value]) => entry(item.nested, key, jsonOf(value)));
      if (sample !== null) items.push(entry(item.nested, 'sample_text', JSON.stringify(sample)));
      write(message(record.history, [...items, message(historyStep, [varintField(1, step)])]));
      write(message(record.summary, items));
    },
    end: (exitCode) => write(message(record.exit, [varintField(1, exitCode)]), of),
  };
}

/** Field numbers of W&B's messages Record, RunRecord and so on (`wandb_internal.proto`). */
const record = { num: 1, history: 2, summary: 3, run: 17, exit: 18, header: 21, info: 200 };
const header = { version: 1 };
const streamId = 1;
const fields = { id: 1, project: 3, config: 4, name: 8, host: 13, began: 17, resume: 24 };
const timestamp = { seconds: 1, nanos: 2 };
const item = { item: 1, key: 1, nested: 2, json: 16 };
const historyStep = 2;

function runFields(
  { id, project, name, config }: WandbRun & { readonly id: string },
  { began, isFirst }: { began: number; isFirst: boolean },
): Uint8Array[] {
  const settings = Object.entries({ _wandb: {}, ...config });
  const start = [
    varintField(timestamp.seconds, Math.floor(began / 1000)),
    varintField(timestamp.nanos, (began % 1000) * 1e6),
  ];
  return [
    ...[text(fields.id, id), text(fields.project, project)],
    message(
      fields.config,
      settings.map(([key, value]) => entry(item.key, key, JSON.stringify(value))),
    ),
    ...[text(fields.name, name ?? id), text(fields.host, hostname()), message(fields.began, start)],
    ...(isFirst ? [] : [varintField(fields.resume, 1)]),
  ];
}

/** @param named Field number of the key. */
function entry(named: number, key: string, json: string): Uint8Array {
  return message(item.item, [text(named, key), text(item.json, json)]);
}

/** Non-finite numbers are written as NaN. */
function jsonOf(value: number | null): string {
  return value === null || !Number.isFinite(value) ? 'NaN' : JSON.stringify(value);
}

/**
 * A new file, in a folder of its own as each start of a run has; with the id of the files there already, if there are
 * any.
 */
function freshFile(home: string, time: number): { id: string; path: string; isFirst: boolean } {
  const known = existsSync(home)
    ? readdirSync(home).flatMap((name) => /^offline-run-\d+_\d+-(\w+)$/.exec(name) ?? [])
    : [];
  const id = known[1] ?? newId();
  for (let second = time; ; second += 1000) {
    const folder = join(home, `offline-run-${timeText(second)}-${id}`);
    if (existsSync(folder)) continue;
    makeMissing(join(folder, 'files'));
    return { id, path: join(folder, `run-${id}.wandb`), isFirst: known.length === 0 };
  }
}

/** Eight letters and digits, as in W&B's own ids. */
function newId(): string {
  const letters = 'abcdefghijklmnopqrstuvwxyz0123456789';
  return [...randomBytes(8)].map((byte) => letters[byte % letters.length]).join('');
}

/** `20261121_075322`, in UTC: folders sort by time, whatever the time zone of a machine. */
function timeText(time: number): string {
  return new Date(time).toISOString().slice(0, 19).replace(/[-:]/g, '').replace('T', '_');
}

const BLOCK = 32_768;
const HEAD = 7;
const kind = { full: 1, first: 2, middle: 3, last: 4 };
/** `:W&B`, a magic number, version 0. The head counts as a part of the first block. */
const fileHead = Buffer.from([0x3a, 0x57, 0x26, 0x42, 0xe1, 0xbe, 0]);

/**
 * A log in LevelDB's format: records in pieces that do not cross blocks of 32 KB. Checksums are CRC-32, unlike
 * LevelDB's.
 */
function recordLog(path: string): (data: Buffer) => void {
  appendFileSync(path, fileHead);
  let size = fileHead.length;
  return (data) => {
    const bytes = inPieces(data, size);
    appendFileSync(path, bytes);
    size += bytes.length;
  };
}

/** @param from Its offset in the file. */
function inPieces(data: Buffer, from: number): Buffer {
  const pieces: Buffer[] = [];
  let [at, size] = [0, from];
  for (let isFirst = true; ; isFirst = false) {
    const left = BLOCK - (size % BLOCK);
    const room = left < HEAD ? BLOCK - HEAD : left - HEAD;
    const filling = left < HEAD ? Buffer.alloc(left) : Buffer.alloc(0);
    const content = data.subarray(at, at + room);
    at += content.length;
    const isLast = at === data.length;
    pieces.push(
      filling,
      piece(isFirst ? (isLast ? kind.full : kind.first) : isLast ? kind.last : kind.middle, content),
    );
    if (isLast) return Buffer.concat(pieces);
    size += filling.length + HEAD + content.length;
  }
}

function piece(type: number, content: Buffer): Buffer {
  const head = Buffer.alloc(HEAD);
  head.writeUInt16LE(content.length, 4);
  head[6] = type;
  head.writeUInt32LE(crc32(Buffer.concat([head.subarray(6), content])), 0);
  return Buffer.concat([head, content]);
}
