/**
 * Files of named tensors in the safetensors format (https://github.com/huggingface/safetensors): 8 bytes with the length of
 * a JSON header, the header, and the tensors' bytes without gaps. Bytes in, numbers out; knows nothing of files.
 */
import * as z from 'zod';
import { UserError } from '../../base/user-error.js';

/** A named array as it lies in the file: row-major. */
export type StoredTensor = { readonly shape: readonly number[]; readonly values: Float32Array };

export type Safetensors = {
  readonly tensors: ReadonlyMap<string, StoredTensor>;
  readonly metadata: Readonly<Record<string, string>>;
};

/** A tensor as the header describes it. `begin` and `end`: its bytes, counted from the beginning of the file. */
export type TensorEntry = {
  readonly dtype: string;
  readonly shape: readonly number[];
  readonly begin: number;
  readonly end: number;
};

type Header = {
  readonly entries: ReadonlyMap<string, TensorEntry>;
  readonly metadata: Readonly<Record<string, string>>;
};

/** Maximum of the format; a longer header is an attack or a broken file. */
const longestHeader = 100_000_000;
/** Bytes before the header, which tell its length. */
export const lengthBytes = 8;

const Entry = z.object({
  dtype: z.string(),
  shape: z.array(z.int().nonnegative()),
  data_offsets: z.tuple([z.int().nonnegative(), z.int().nonnegative()]),
});
const HeaderObject = z.record(z.string(), z.unknown());
const Metadata = z.record(z.string(), z.string());

/** Numbers of a tensor's bytes (little-endian), by the format's name of their type. */
const decoders: Record<string, { bytes: number; read: (view: DataView, at: number) => number }> = {
  F64: { bytes: 8, read: (view, at) => view.getFloat64(at, true) },
  F32: { bytes: 4, read: (view, at) => view.getFloat32(at, true) },
  F16: { bytes: 2, read: (view, at) => half(view.getUint16(at, true)) },
  BF16: { bytes: 2, read: (view, at) => bfloat(view, at) },
};

/** Whether tensors of this type can be read. */
export function isReadable(dtype: string): boolean {
  return Object.hasOwn(decoders, dtype);
}

/** The file's bytes, tensors as F32 in the order given, each beginning at a multiple of 8 bytes. */
export function writeSafetensors({ tensors, metadata }: Safetensors): Uint8Array {
  const header: Record<string, unknown> = Object.create(null) as Record<string, unknown>;
  if (Object.keys(metadata).length > 0) header['__metadata__'] = metadata;
  let end = 0;
  for (const [name, { shape, values }] of tensors) {
    header[name] = { dtype: 'F32', shape, data_offsets: [end, end + values.byteLength] };
    end += values.byteLength;
  }
  const json = new TextEncoder().encode(JSON.stringify(header));
  const start = lengthBytes + Math.ceil(json.length / 8) * 8;
  const bytes = new Uint8Array(start + end);
  const view = new DataView(bytes.buffer);
  view.setBigUint64(0, BigInt(start - lengthBytes), true);
  // The format pads its header with spaces.
  bytes.fill(0x20, lengthBytes + json.length, start);
  bytes.set(json, lengthBytes);
  let at = start;
  for (const { values } of tensors.values()) {
    for (let i = 0; i < values.length; i++) view.setFloat32(at + i * 4, values[i]!, true);
    at += values.byteLength;
  }
  return bytes;
}

/**
 * Reads a file of F32, F64, F16 or BF16 tensors.
 *
 * @param name What an error calls the file.
 * @throws UserError when the bytes are not such a file.
 */
export function readSafetensors(bytes: Uint8Array, name = 'This'): Safetensors {
  const length = headerLength(bytes.subarray(0, lengthBytes), bytes.length, name);
  const { entries, metadata } = readHeader(bytes.subarray(lengthBytes, lengthBytes + length), {
    name,
    bytes: bytes.length,
  });
  const tensors = new Map<string, StoredTensor>();
  for (const [tensor, entry] of entries)
    tensors.set(tensor, decode(tensor, entry, bytes.subarray(entry.begin, entry.end)));
  return { tensors, metadata };
}

/**
 * Length in bytes of the header that follows these first 8 bytes.
 *
 * @param fileBytes Size of the whole file.
 * @param name What an error calls the file.
 * @throws UserError when the file cannot hold such a header.
 */
export function headerLength(first: Uint8Array, fileBytes: number, name: string): number {
  if (first.length < lengthBytes) throw malformedFile(name, `it has only ${first.length} bytes`);
  const promised = new DataView(first.buffer, first.byteOffset, lengthBytes).getBigUint64(0, true);
  if (promised > longestHeader || lengthBytes + Number(promised) > fileBytes) {
    throw malformedFile(
      name,
      `its first 8 bytes promise a header of ${promised} bytes, but ${fileBytes - lengthBytes} follow`,
    );
  }
  return Number(promised);
}

/**
 * The file's tensors and metadata. Every byte after the header belongs to exactly one tensor, as the format demands: a
 * file that hides something in a gap, or reads one tensor as two, is refused.
 *
 * @throws UserError
 */
export function readHeader(json: Uint8Array, file: { name: string; bytes: number }): Header {
  const header = HeaderObject.safeParse(parseHeader(json, file.name));
  if (!header.success) throw malformedFile(file.name, 'its header is not a JSON object');
  const metadata = Metadata.safeParse(header.data['__metadata__'] ?? {});
  if (!metadata.success) throw malformedFile(file.name, 'its metadata is not a list of texts');
  const start = lengthBytes + json.length;
  const entries = new Map<string, TensorEntry>();
  for (const [name, raw] of Object.entries(header.data)) {
    if (name === '__metadata__') continue;
    const entry = Entry.safeParse(raw);
    if (!entry.success) throw malformedFile(file.name, `its header does not describe tensor "${name}" properly`);
    entries.set(name, checkedEntry(name, entry.data, { ...file, start }));
  }
  checkCover(entries, { ...file, start });
  return { entries, metadata: metadata.data };
}

/** The numbers of one tensor, as single floats. @param bytes Those the entry names. */
export function decode(name: string, { dtype, shape }: TensorEntry, bytes: Uint8Array): StoredTensor {
  const decoder = isReadable(dtype) ? decoders[dtype]! : null;
  if (decoder === null) {
    throw new UserError(
      `Tensor "${name}" has the type ${dtype}, which cannot be read.`,
      `Save the checkpoint in one of ${Object.keys(decoders).join(', ')}.`,
    );
  }
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const values = new Float32Array(bytes.byteLength / decoder.bytes);
  for (let i = 0; i < values.length; i++) values[i] = decoder.read(view, i * decoder.bytes);
  return { shape, values };
}

function parseHeader(bytes: Uint8Array, name: string): unknown {
  let text: string;
  let parsed: unknown;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    parsed = JSON.parse(text);
  } catch (cause) {
    throw malformedFile(name, 'its header is not JSON', cause);
  }
  const twice = repeatedName(text);
  if (twice !== null) throw malformedFile(name, `its header names ${JSON.stringify(twice)} twice`);
  return parsed;
}

type FileSpan = { readonly name: string; readonly bytes: number; readonly start: number };

function checkedEntry(
  name: string,
  { dtype, shape, data_offsets }: z.infer<typeof Entry>,
  file: FileSpan,
): TensorEntry {
  const [from, to] = data_offsets;
  const count = shape.reduce((product, size) => product * size, 1);
  // The size of types that are not read is unknown; their bytes must be there all the same.
  const size = isReadable(dtype) ? count * decoders[dtype]!.bytes : to - from;
  if (to < from || file.start + to > file.bytes || to - from !== size) {
    throw malformedFile(
      file.name,
      `tensor "${name}" of shape [${shape.join(', ')}] does not fit its bytes ${from} to ${to}`,
    );
  }
  return { dtype, shape, begin: file.start + from, end: file.start + to };
}

function checkCover(entries: ReadonlyMap<string, TensorEntry>, file: FileSpan): void {
  const inOrder = [...entries].sort(([, a], [, b]) => a.begin - b.begin || a.end - b.end);
  let at = file.start;
  for (const [name, { begin, end }] of inOrder) {
    if (begin !== at) {
      const how = begin < at ? 'overlaps the one before it' : `leaves ${begin - at} bytes before it to no tensor`;
      throw malformedFile(file.name, `tensor "${name}" ${how}`);
    }
    at = end;
  }
  if (at !== file.bytes) throw malformedFile(file.name, `its last ${file.bytes - at} bytes belong to no tensor`);
}

function half(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 0x1f;
  const fraction = bits & 0x3ff;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  if (exponent === 0x1f) return fraction ? NaN : sign * Infinity;
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}

const word = new DataView(new ArrayBuffer(4));

/** The upper half of a float. */
function bfloat(view: DataView, at: number): number {
  word.setUint32(0, view.getUint16(at, true) << 16);
  return word.getFloat32(0);
}

function malformedFile(name: string, why: string, cause?: unknown): UserError {
  return new UserError(
    `${name} is not a safetensors file, or it was cut short: ${why}.`,
    'Fetch or write the file again, or use an earlier checkpoint.',
    { cause },
  );
}

/** Names seen in each object that is open; null for a list. */
type OpenObjects = (Set<string> | null)[];

/**
 * The first name that an object in this JSON text has twice, or null.
 *
 * `JSON.parse` silently keeps the last of them, and other programs keep the first: a file with such a name means
 * different things to different readers. The text must be valid JSON.
 */
export function repeatedName(json: string): string | null {
  const open: OpenObjects = [];
  for (let at = 0; at < json.length; at++) {
    if (json[at] !== '"') {
      follow(json[at]!, open);
      continue;
    }
    const end = endOfText(json, at);
    if (isName(json, end)) {
      const name = JSON.parse(json.slice(at, end)) as string;
      const names = open[open.length - 1];
      if (names?.has(name) === true) return name;
      names?.add(name);
    }
    at = end - 1;
  }
  return null;
}

function follow(sign: string, open: OpenObjects): void {
  if (sign === '{') open.push(new Set());
  else if (sign === '[') open.push(null);
  else if (sign === '}' || sign === ']') open.pop();
}

/**
 * Index after the closing quote of the text that begins at `start`. A quote after an odd number of backslashes does
 * not close it.
 */
function endOfText(json: string, start: number): number {
  for (let quote = json.indexOf('"', start + 1); ; quote = json.indexOf('"', quote + 1)) {
    let backslashes = 0;
    while (json[quote - 1 - backslashes] === '\\') backslashes++;
    if (backslashes % 2 === 0) return quote + 1;
  }
}

/** Whether the next character that is not white space is a colon. */
function isName(json: string, from: number): boolean {
  let at = from;
  while (/^\s$/.test(json[at] ?? '')) at++;
  return json[at] === ':';
}
