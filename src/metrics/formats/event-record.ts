import { maskedCrc32c } from '../../contract/crc32c.js';
import { Fields, varintAt, wire } from '../binary/protobuf.js';

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

/** Receives the numbers of events. `time`: Unix ms. */
export type ScalarTaker = (tag: string, value: number, step: number, time: number) => void;

const event = { wallTime: 1, step: 2, summary: 5 };
const value = { tag: 1, simple: 2, tensor: 8, metadata: 9 };
const tensor = { type: 1, content: 4, floats: 5, doubles: 6, integers: 7, longs: 10 };
/** Name of the plugin for scalars; tensors of other plugins are texts, pictures or curves. */
const SCALARS = 'scalars';

/** Reads the scalars of events, as torch writes them (`simple_value`) and as TensorFlow 2 does (tensors of one number). */
export class EventReader {
  readonly #event = new Fields();
  readonly #summary = new Fields();
  readonly #value = new Fields();
  readonly #inner = new Fields();
  readonly #nameOf: (tag: string) => string;

  /** @param nameOf Maps a tag to the name of its metric. */
  constructor(nameOf: (tag: string) => string) {
    this.#nameOf = nameOf;
  }

  /** @param take Called for each number of the event in `bytes[from, to)`. */
  read(bytes: Buffer, [from, to]: readonly [number, number], take: ScalarTaker): void {
    const fields = this.#event.walk(bytes, from, to);
    let [time, step, at, end] = [NaN, 0, 0, 0];
    while (fields.next()) {
      if (fields.is(event.wallTime, wire.fixed64)) time = fields.double * 1000;
      else if (fields.is(event.step, wire.varint)) step = fields.integer;
      else if (fields.is(event.summary, wire.bytes)) [at, end] = [fields.start, fields.end];
    }
    if (end === 0) return;
    const values = this.#summary.walk(bytes, at, end);
    while (values.next()) if (values.is(1, wire.bytes)) this.#take(step, time, take);
  }

  #take(step: number, time: number, take: ScalarTaker): void {
    const { bytes, start, end } = this.#summary;
    const fields = this.#value.walk(bytes, start, end);
    let tag = '';
    let number: number | null = null;
    let plugin: string | null = null;
    while (fields.next()) {
      if (fields.is(value.simple, wire.fixed32)) number = fields.float;
      else if (fields.is(value.tag, wire.bytes)) tag = fields.text;
      else if (fields.is(value.tensor, wire.bytes)) number = this.#numberOf(bytes, fields.start, fields.end);
      else if (fields.is(value.metadata, wire.bytes)) plugin = this.#pluginOf(bytes, fields.start, fields.end);
    }
    const isScalar = number !== null && (plugin === null || plugin === SCALARS);
    if (isScalar && tag !== '') take(this.#nameOf(tag), number!, step, time);
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
