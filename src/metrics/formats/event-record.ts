import { maskedCrc32c } from '../../contract/crc32c.js';
import { Fields, varintAt, wire } from '../binary/protobuf.js';
import { RepeatedNames } from '../binary/repeated-names.js';
import type { PointTaker } from './format.js';
import { Media } from './media.js';

/** A TFRecord is its length in 8 bytes, a checksum of that, the data, and a checksum of the data. */
export const RECORD_HEAD = 12;
const RECORD_TAIL = 4;
/** Larger records hold pictures or weights, bytes. */
const LARGEST = 2 ** 31;

/** Total size of the record at `at`; null: the bytes there are not the header of a record. */
export function recordLength(bytes: Buffer, at: number): number | null {
  const length = bytes.readUInt32LE(at);
  if (bytes.readUInt32LE(at + 4) !== 0 || length > LARGEST) return null;
  return maskedCrc32c(bytes, at, at + 8) === bytes.readUInt32LE(at + 8) ? RECORD_HEAD + length + RECORD_TAIL : null;
}

/** Whether the data of the record in `bytes[at, end)` matches its checksum. */
export function isSound(bytes: Buffer, at: number, end: number): boolean {
  const tail = end - RECORD_TAIL;
  return maskedCrc32c(bytes, at + RECORD_HEAD, tail) === bytes.readUInt32LE(tail);
}

const event = { wallTime: 1, step: 2, summary: 5, session: 7 };
/** Status of a session that begins; a later attempt writes it with the step at which all tags end (`purge_step`). */
const START = 1;
const value = { tag: 1, simple: 2, tensor: 8, metadata: 9 };
const tensor = { type: 1, content: 4, floats: 5, doubles: 6, integers: 7, longs: 10 };
/** Name of the plugin for scalars; tensors of other plugins are texts, pictures or curves. */
const SCALARS = 'scalars';

/** What a value is by its field, as torch writes it, or by its plugin, as TensorFlow 2 does. Texts are settings, mostly. */
const fieldKinds: Readonly<Record<number, string>> = { 4: 'image', 5: 'histogram', 6: 'audio' };
const pluginKinds: Readonly<Record<string, string>> = {
  ...{ images: 'image', histograms: 'histogram', audio: 'audio', pr_curves: 'PR curve', mesh: 'mesh' },
};

/** Keys of the fields of an event with one scalar, in their usual order. */
const usual = { wallTime: 0x09, step: 0x10, summary: 0x2a, value: 0x0a, tag: 0x0a, simple: 0x15 };
/** Keys and lengths of a summary, its value and its tag. */
const SUMMARY_HEAD = 6;

/** Whether `bytes[at, end)` is a summary of a tag and a `simple_value`, and short, so that each length is one byte. */
function isUsualSummary(bytes: Buffer, at: number, end: number): boolean {
  const tag = bytes[at + 5]!;
  return (
    bytes[at] === usual.summary &&
    end - at < 128 &&
    bytes[at + 1] === end - at - 2 &&
    bytes[at + 2] === usual.value &&
    bytes[at + 3] === end - at - 4 &&
    bytes[at + 4] === usual.tag &&
    tag > 0 &&
    at + SUMMARY_HEAD + tag + 5 === end &&
    bytes[end - 5] === usual.simple
  );
}

/** The end of the varint at `at`, of at most ten bytes. */
function varintEnd(bytes: Buffer, at: number): number {
  let end = at;
  while (bytes[end]! >= 128 && end < at + 9) end += 1;
  return end + 1;
}

/** Reads the scalars of events, as torch writes them (`simple_value`) and as TensorFlow 2 does (tensors of one number). */
export class EventReader {
  readonly #event = new Fields();
  readonly #summary = new Fields();
  readonly #value = new Fields();
  readonly #inner = new Fields();
  readonly #names: RepeatedNames;
  /** Reads numbers faster than the methods of a buffer. */
  #view: DataView = new DataView(new ArrayBuffer(0));
  #viewed: Buffer | null = null;
  /** Called with the step at which a session begins. */
  began: (step: number) => void = () => undefined;
  readonly media = new Media();

  /** @param nameOf Maps a tag to the name of its metric. */
  constructor(nameOf: (tag: string) => string) {
    this.#names = new RepeatedNames(nameOf);
  }

  /** @param take Called for each number of the event in `bytes[from, to)`. */
  read(bytes: Buffer, range: readonly [number, number], take: PointTaker): void {
    if (!this.#readUsual(bytes, range, take)) this.#readAny(bytes, range, take);
  }

  /** Counts what a record is about of which only the beginning is in `bytes[from, to)`. */
  peek(bytes: Buffer, [from, to]: readonly [number, number]): void {
    // The field that is cut is not passed on, but its number and where it starts are known.
    const fields = this.#event.walk(bytes, from, to);
    let step = 0;
    while (fields.next()) if (fields.is(event.step, wire.varint)) step = fields.integer;
    if (fields.number !== event.summary) return;
    const summary = this.#summary.walk(bytes, fields.start, to);
    while (summary.next());
    const own = this.#value.walk(bytes, summary.start, to);
    let [tag, tagEnd] = [0, 0];
    while (own.next()) if (own.is(value.tag, wire.bytes)) [tag, tagEnd] = [own.start, own.end];
    const kind = own.number === value.tensor ? 'tensor' : fieldKinds[own.number];
    this.#takeMedia(tag, tagEnd, kind, step);
  }

  /**
   * Reads an event as torch writes a scalar: wall time, step, and a summary of a tag and a `simple_value`. False: it is another
   * event.
   */
  #readUsual(bytes: Buffer, [from, to]: readonly [number, number], take: PointTaker): boolean {
    const afterTime = from + 9;
    const at = bytes[afterTime] === usual.step ? varintEnd(bytes, afterTime + 1) : afterTime;
    if (bytes[from] !== usual.wallTime || !isUsualSummary(bytes, at, to)) return false;
    if (this.#viewed !== bytes) {
      this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
      this.#viewed = bytes;
    }
    const step = at === afterTime ? 0 : varintAt(bytes, afterTime + 1, at);
    const time = this.#view.getFloat64(from + 1, true) * 1000;
    take(this.#names.at(bytes, at + SUMMARY_HEAD, to - 5), this.#view.getFloat32(to - 4, true), step, time);
    return true;
  }

  #readAny(bytes: Buffer, [from, to]: readonly [number, number], take: PointTaker): void {
    const fields = this.#event.walk(bytes, from, to);
    let [time, step, at, end] = [NaN, 0, 0, 0];
    let begins = false;
    while (fields.next()) {
      if (fields.is(event.wallTime, wire.fixed64)) time = fields.double * 1000;
      else if (fields.is(event.step, wire.varint)) step = fields.integer;
      else if (fields.is(event.summary, wire.bytes)) [at, end] = [fields.start, fields.end];
      else if (fields.is(event.session, wire.bytes)) begins = this.#isStart(bytes, fields.start, fields.end);
    }
    if (begins) this.began(step);
    if (end === 0) return;
    const values = this.#summary.walk(bytes, at, end);
    while (values.next()) if (values.is(1, wire.bytes)) this.#take(step, time, take);
  }

  #isStart(bytes: Buffer, from: number, to: number): boolean {
    const fields = this.#inner.walk(bytes, from, to);
    while (fields.next()) if (fields.is(1, wire.varint)) return fields.integer === START;
    return false;
  }

  #take(step: number, time: number, take: PointTaker): void {
    const { bytes, start, end } = this.#summary;
    const fields = this.#value.walk(bytes, start, end);
    let [tag, tagEnd] = [0, 0];
    let number: number | null = null;
    let plugin: string | null = null;
    let other = 0;
    while (fields.next()) {
      if (fields.is(value.simple, wire.fixed32)) number = fields.float;
      else if (fields.is(value.tag, wire.bytes)) [tag, tagEnd] = [fields.start, fields.end];
      else if (fields.is(value.tensor, wire.bytes)) number = this.#numberOf(bytes, fields.start, fields.end);
      else if (fields.is(value.metadata, wire.bytes)) plugin = this.#pluginOf(bytes, fields.start, fields.end);
      else other = fields.number;
    }
    const isScalar = number !== null && (plugin === null || plugin === SCALARS);
    if (!isScalar) this.#takeMedia(tag, tagEnd, kindOf(other, plugin), step);
    else if (tagEnd > tag) take(this.#names.at(bytes, tag, tagEnd), number!, step, time);
  }

  /** @param kind Undefined: it is nothing that is shown anywhere. */
  #takeMedia(tag: number, tagEnd: number, kind: string | undefined, step: number): void {
    if (kind !== undefined && tagEnd > tag) this.media.take(this.#names.at(this.#value.bytes, tag, tagEnd), kind, step);
  }

  /** The number in a tensor; null: it is not a single number. */
  #numberOf(bytes: Buffer, from: number, to: number): number | null {
    const fields = this.#inner.walk(bytes, from, to);
    let type = 0;
    let number: number | null = null;
    while (fields.next()) {
      if (fields.is(tensor.type, wire.varint)) type = fields.integer;
      else number = numberIn(fields, type) ?? number;
    }
    return number;
  }

  #pluginOf(bytes: Buffer, from: number, to: number): string | null {
    const fields = this.#inner.walk(bytes, from, to);
    while (fields.next()) {
      if (!fields.is(1, wire.bytes)) continue;
      fields.walk(bytes, fields.start, fields.end);
      while (fields.next()) if (fields.is(1, wire.bytes)) return fields.text;
    }
    return null;
  }
}

function kindOf(field: number, plugin: string | null): string | undefined {
  return fieldKinds[field] ?? pluginKinds[plugin ?? ''];
}

/** Encoding of numbers in `tensor_content`, by type of the tensor. */
const readers: Readonly<Record<number, { size: number; read: (bytes: Buffer, at: number) => number }>> = {
  1: { size: 4, read: (bytes, at) => bytes.readFloatLE(at) },
  2: { size: 8, read: (bytes, at) => bytes.readDoubleLE(at) },
  3: { size: 4, read: (bytes, at) => bytes.readInt32LE(at) },
  9: { size: 8, read: (bytes, at) => Number(bytes.readBigInt64LE(at)) },
};

/** The only number in a field of a tensor; null: there is none, or there are several. */
function numberIn(field: Fields, type: number): number | null {
  const { bytes, start, end } = field;
  const size = end - start;
  switch (field.number) {
    case tensor.content:
      return readers[type]?.size === size ? readers[type].read(bytes, start) : null;
    case tensor.floats:
      return size === 4 ? bytes.readFloatLE(start) : null;
    case tensor.doubles:
      return size === 8 ? bytes.readDoubleLE(start) : null;
    case tensor.integers:
    case tensor.longs:
      return onlyVarint(bytes, start, end);
    default:
      return null;
  }
}

/** The only varint of a list, packed or not; null: there are several. */
function onlyVarint(bytes: Buffer, from: number, to: number): number | null {
  const last = bytes.subarray(from, to).findIndex((byte) => byte < 128);
  return last >= 0 && last === to - from - 1 ? varintAt(bytes, from, to) : null;
}
