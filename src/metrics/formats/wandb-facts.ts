import { closeSync, readSync } from 'node:fs';
import { openRegular } from '../../files/regular-file.js';
import { Fields, wire } from '../binary/protobuf.js';
import { BLOCK, itemsIn, recordsIn } from './wandb.js';

/** What a file of W&B says of its run beside its metrics. `exitCode` null: the run did not say that it ended. */
export type WandbFacts = {
  readonly config: Readonly<Record<string, unknown>>;
  readonly name: string | null;
  readonly project: string | null;
  readonly group: string | null;
  readonly exitCode: number | null;
};

const record = { config: 5, run: 17, exit: 18 };
const run = { project: 3, config: 4, group: 6, name: 8 };
/** `update` of a record of settings. */
const UPDATE = 1;
/** Blocks that are read at the beginning, where the settings are, and at the end, where the exit is. */
const FIRST_BLOCKS = 16;
const LAST_BLOCKS = 4;

/** Reads the beginning and the end of `run-….wandb`: the settings, names and the exit code. Nothing of it where it cannot be read. */
export function readWandbFacts(path: string): WandbFacts {
  const opened = openRegular(path);
  const facts = { config: {} as Record<string, unknown>, name: null, project: null, group: null, exitCode: null };
  if (opened.kind !== 'file') return facts;
  try {
    const { size } = opened.stat;
    const last = Math.max(FIRST_BLOCKS, Math.ceil(size / BLOCK) - LAST_BLOCKS) * BLOCK;
    for (const [from, blocks] of [[0, FIRST_BLOCKS] as const, [last, LAST_BLOCKS] as const]) {
      if (from >= size) continue;
      const bytes = Buffer.alloc(Math.min(blocks * BLOCK, size - from));
      const length = readSync(opened.descriptor, bytes, 0, bytes.length, from);
      for (const each of recordsIn(bytes.subarray(0, length), from)) take(each, facts);
    }
  } catch {
    // A disk that fails: what was read until then counts.
  } finally {
    closeSync(opened.descriptor);
  }
  return facts;
}

type Writable = { -readonly [Key in keyof WandbFacts]: WandbFacts[Key] } & { config: Record<string, unknown> };

function take(bytes: Buffer, facts: Writable): void {
  const fields = new Fields().walk(bytes, 0, bytes.length);
  while (fields.next()) {
    const { start, end } = fields;
    if (fields.is(record.config, wire.bytes)) Object.assign(facts.config, itemsIn(bytes, start, end, UPDATE));
    else if (fields.is(record.run, wire.bytes)) takeRun(bytes, [start, end], facts);
    else if (fields.is(record.exit, wire.bytes)) facts.exitCode = exitCodeIn(bytes, start, end);
  }
}

function takeRun(bytes: Buffer, [from, to]: readonly [number, number], facts: Writable): void {
  const fields = new Fields().walk(bytes, from, to);
  while (fields.next()) {
    if (fields.is(run.config, wire.bytes))
      Object.assign(facts.config, itemsIn(bytes, fields.start, fields.end, UPDATE));
    else if (fields.is(run.name, wire.bytes)) facts.name = fields.text || null;
    else if (fields.is(run.project, wire.bytes)) facts.project = fields.text || null;
    else if (fields.is(run.group, wire.bytes)) facts.group = fields.text || null;
  }
}

/** Zero is left out by protobuf. */
function exitCodeIn(bytes: Buffer, from: number, to: number): number {
  const fields = new Fields().walk(bytes, from, to);
  while (fields.next()) if (fields.is(1, wire.varint)) return fields.integer;
  return 0;
}
