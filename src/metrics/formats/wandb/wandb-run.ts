import { closeSync, readSync } from 'node:fs';
import { openRegular } from '../../../files/regular-file.js';
import { Fields, wire } from '../../binary/protobuf.js';
import type { Declared, WrittenRow } from '../format.js';
import { Media } from '../media.js';
import { BLOCK, itemsIn, recordsIn, TYPE } from './wandb-items.js';

const record = { summary: 3, config: 5, metric: 12, run: 17, exit: 18, info: 200 };
/** Fields of a record of settings, and of one of the summary. */
const changes = { update: 1, remove: 2 };
const run = { project: 3, config: 4, group: 6, name: 8, notes: 9, tags: 10 };
const texted: ReadonlySet<number> = new Set([run.project, run.group, run.name, run.notes]);
const metric = { name: 1, glob: 2, step: 4, options: 6, summary: 7, hidden: 2, none: 6 };
/** The first bytes of an item whose key is not nested and begins with an underscore, as W&B's own does. */
const [KEY, UNDERSCORE] = [0x0a, 0x5f];
/** Limit on the values that are remembered. */
const MOST = 2000;

/** What `define_metric` says of a metric. `isSummed`: W&B gives its lowest, highest, mean, first or best value instead of its last. */
/** `isCurveAlone`: no value stands for it. */
type Defined = { readonly step: string | null } & Readonly<Record<'isHidden' | 'isSummed' | 'isCurveAlone', boolean>>;

const nothing: Defined = { step: null, isHidden: false, isSummed: false, isCurveAlone: false };

/** What a file of W&B says of its run beside the rows of its metrics. `exitCode` null: the run did not say that it ended. */
export class WandbRun implements Declared {
  config: Record<string, unknown> = {};
  name: string | null = null;
  project: string | null = null;
  group: string | null = null;
  notes: string | null = null;
  tags: readonly string[] = [];
  exitCode: number | null = null;
  readonly values = new Map<string, number>();
  /** By name; a name that ends with `*` stands for all that begin so. */
  readonly #defined = new Map<string, Defined>();
  /** What is no number. */
  readonly media = new Media();
  #isSummed = false;
  readonly #takers: Readonly<Record<number, (bytes: Buffer, start: number, end: number) => void>> = {
    [record.config]: (...part) => this.#takeConfig(...part),
    [record.metric]: (...part) => this.#takeMetric(...part),
    [record.run]: (...part) => this.#takeRun(...part),
    [record.exit]: (...part) => {
      this.exitCode = integerIn(...part, 1);
    },
  };

  /** Begins anew, as the file was replaced. */
  forget(): void {
    this.config = {};
    this.#isSummed = false;
    this.media.forget();
    for (const known of [this.values, this.#defined]) known.clear();
  }

  axisOf(key: string): string | null {
    return this.#definitionOf(key)?.step ?? null;
  }

  isHidden(key: string): boolean {
    return this.#definitionOf(key)?.isHidden ?? false;
  }

  isCurveAlone(key: string): boolean {
    return this.#definitionOf(key)?.isCurveAlone ?? false;
  }

  isInternal(key: string): boolean {
    return key === '_timestamp' || key === '_runtime';
  }

  /** Takes all that a record says. */
  takeRecord(bytes: Buffer): void {
    const fields = new Fields().walk(bytes, 0, bytes.length);
    let summary: readonly [number, number] | null = null;
    let isOfProgram = false;
    while (fields.next()) {
      if (fields.is(record.summary, wire.bytes)) summary = [fields.start, fields.end];
      else if (fields.is(record.info, wire.bytes)) isOfProgram = true;
      else if (fields.wire === wire.bytes) this.#takers[fields.number]?.(bytes, fields.start, fields.end);
    }
    if (summary !== null) this.#takeSummary(bytes, summary, isOfProgram);
  }

  /** Removes from a row of the history what is no number, of which it has some. */
  takeMedia(row: Record<string, unknown>): void {
    const step = row['_step'];
    for (const [key, type] of mediaIn(row)) this.media.take(key, type, typeof step === 'number' ? step : NaN);
  }

  /** A row of the history ends what the program has said of the metrics in it. */
  wrote(row: WrittenRow): void {
    if (this.values.size === 0) return;
    for (const key in row) if (!this.#definitionOf(key)?.isSummed) this.values.delete(key);
  }

  #definitionOf(key: string): Defined | undefined {
    if (this.#defined.size === 0) return undefined;
    const exact = this.#defined.get(key);
    if (exact !== undefined || key.startsWith('_')) return exact;
    for (const [name, defined] of this.#defined)
      if (name.endsWith('*') && key.startsWith(name.slice(0, -1))) return defined;
    return undefined;
  }

  #takeConfig(bytes: Buffer, start: number, end: number): void {
    Object.assign(this.config, itemsIn(bytes, start, end, changes.update));
    for (const key of Object.keys(itemsIn(bytes, start, end, changes.remove))) delete this.config[key];
  }

  #takeRun(bytes: Buffer, start: number, end: number): void {
    const fields = new Fields().walk(bytes, start, end);
    const texts: Record<number, string> = {};
    const tags: string[] = [];
    while (fields.next()) {
      if (fields.is(run.config, wire.bytes)) this.#takeConfig(bytes, fields.start, fields.end);
      else if (fields.is(run.tags, wire.bytes)) tags.push(fields.text);
      else if (texted.has(fields.number)) texts[fields.number] = fields.text;
    }
    this.name = texts[run.name] || this.name;
    this.project = texts[run.project] || this.project;
    this.group = texts[run.group] || this.group;
    this.notes = texts[run.notes] || this.notes;
    this.tags = tags;
  }

  #takeMetric(bytes: Buffer, start: number, end: number): void {
    const parts = new Map<number, readonly [number, number]>();
    const fields = new Fields().walk(bytes, start, end);
    while (fields.next()) parts.set(fields.number, [fields.start, fields.end]);
    const textOf = (number: number) => bytes.toString('utf8', ...(parts.get(number) ?? [0, 0]));
    const name = textOf(metric.name) || textOf(metric.glob);
    const isSet = (part: number, number: number) =>
      integerIn(bytes, ...(parts.get(part) ?? ([0, 0] as const)), number) > 0;
    const before = this.#defined.get(name) ?? nothing;
    const defined: Defined = {
      step: textOf(metric.step) || before.step,
      isHidden: isSet(metric.options, metric.hidden) || before.isHidden,
      isSummed: parts.has(metric.summary) || before.isSummed,
      isCurveAlone: isSet(metric.summary, metric.none) || before.isCurveAlone,
    };
    if (this.#defined.size < MOST) this.#defined.set(name, defined);
    this.#isSummed ||= defined.isSummed;
  }

  /** W&B writes the summary again with each row. Of that, only what differs from the row is looked at. */
  #takeSummary(bytes: Buffer, [from, to]: readonly [number, number], isOfProgram: boolean): void {
    const isWhole = isOfProgram || hasOwnItem(bytes, from, to);
    if (!isWhole && !this.#isSummed) return;
    const items = { ...itemsIn(bytes, from, to, changes.update) };
    mediaIn(items);
    for (const [key, value] of Object.entries(items)) {
      const isSummed = this.#definitionOf(key)?.isSummed === true;
      if (!key.startsWith('_') && (isWhole || isSummed)) this.#takeValue(key, value, isSummed);
    }
    for (const key of Object.keys(itemsIn(bytes, from, to, changes.remove))) this.values.delete(key);
  }

  #takeValue(key: string, value: unknown, isSummed = false): void {
    if (typeof value === 'number' || typeof value === 'boolean') return this.#setValue(key, Number(value));
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return;
    const parts = Object.entries(value);
    // `{"min": 0.4}` is the value of the metric; of several, each has a name of its own.
    const isOne = isSummed && parts.length === 1;
    for (const [part, inner] of parts) this.#takeValue(isOne ? key : `${key}.${part}`, inner);
  }

  #setValue(key: string, value: number): void {
    if (this.values.size < MOST || this.values.has(key)) this.values.set(key, value);
  }
}

/** Whether a summary has an item that is not nested and no internal one of W&B. */
function hasOwnItem(bytes: Buffer, from: number, to: number): boolean {
  const fields = new Fields().walk(bytes, from, to);
  while (fields.next())
    if (fields.number === changes.update && bytes[fields.start] === KEY && bytes[fields.start + 2] !== UNDERSCORE)
      return true;
  return false;
}

/** Removes from a row what is no number; returns its names and types. */
function mediaIn(row: Record<string, unknown>): [key: string, type: string][] {
  const media = Object.entries(row).flatMap(([name, type]): [string, string][] =>
    name.endsWith(TYPE) ? [[name.slice(0, -TYPE.length), String(type).replace(/-file$|\/separated$/, '')]] : [],
  );
  for (const [key] of media) for (const name of Object.keys(row)) if (name.startsWith(`${key}.`)) delete row[name];
  return media;
}

/** The number in a field of a message; protobuf leaves zero out. */
function integerIn(bytes: Buffer, from: number, to: number, number: number): number {
  const fields = new Fields().walk(bytes, from, to);
  while (fields.next()) if (fields.is(number, wire.varint)) return fields.integer;
  return 0;
}

/** Blocks that are read at the beginning, where the settings are, and at the end, where the exit is. */
const FIRST_BLOCKS = 16;
const LAST_BLOCKS = 4;

/** Reads the beginning and the end of `run-….wandb`. Nothing of it where it cannot be read. */
export function readWandbRun(path: string): WandbRun {
  const opened = openRegular(path);
  const facts = new WandbRun();
  if (opened.kind !== 'file') return facts;
  try {
    const { size } = opened.stat;
    const last = Math.max(FIRST_BLOCKS, Math.ceil(size / BLOCK) - LAST_BLOCKS) * BLOCK;
    for (const [from, blocks] of [[0, FIRST_BLOCKS] as const, [last, LAST_BLOCKS] as const]) {
      if (from >= size) continue;
      const bytes = Buffer.alloc(Math.min(blocks * BLOCK, size - from));
      const length = readSync(opened.descriptor, bytes, 0, bytes.length, from);
      for (const each of recordsIn(bytes.subarray(0, length), from)) facts.takeRecord(each);
    }
  } catch {
    // A disk that fails: what was read until then counts.
  } finally {
    closeSync(opened.descriptor);
  }
  return facts;
}
