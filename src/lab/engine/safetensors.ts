import * as z from 'zod';
import { UserError } from '../../base/user-error.js';

/** A named array as it lies in the file: row-major. */
export type StoredTensor = { readonly shape: readonly number[]; readonly values: Float32Array };

/** Contents of a file in the safetensors format (https://github.com/huggingface/safetensors). */
export type Safetensors = {
  readonly tensors: ReadonlyMap<string, StoredTensor>;
  readonly metadata: Readonly<Record<string, string>>;
};

/** What the format allows; a longer header is an attack or a broken file. */
const longestHeader = 100_000_000;

const Entry = z.object({
  dtype: z.string(),
  shape: z.array(z.int().nonnegative()),
  data_offsets: z.tuple([z.int().nonnegative(), z.int().nonnegative()]),
});
const Header = z.record(z.string(), z.unknown());
const Metadata = z.record(z.string(), z.string());

/** Numbers of a tensor's bytes (little-endian), by the format's name of their type. */
const decoders: Record<string, { bytes: number; read: (view: DataView, at: number) => number }> = {
  F64: { bytes: 8, read: (view, at) => view.getFloat64(at, true) },
  F32: { bytes: 4, read: (view, at) => view.getFloat32(at, true) },
  F16: { bytes: 2, read: (view, at) => half(view.getUint16(at, true)) },
  BF16: { bytes: 2, read: (view, at) => bfloat(view, at) },
};

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
  const start = 8 + Math.ceil(json.length / 8) * 8;
  const bytes = new Uint8Array(start + end);
  const view = new DataView(bytes.buffer);
  view.setBigUint64(0, BigInt(start - 8), true);
  // The format pads its header with spaces.
  bytes.fill(0x20, 8 + json.length, start);
  bytes.set(json, 8);
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
 * @throws UserError when the bytes are not such a file.
 */
export function readSafetensors(bytes: Uint8Array): Safetensors {
  const { header, data } = splitFile(bytes);
  const metadata = Metadata.safeParse(header['__metadata__'] ?? {});
  if (!metadata.success) throw malformed('its metadata is not a list of texts');
  const tensors = new Map<string, StoredTensor>();
  for (const [name, raw] of Object.entries(header)) {
    if (name === '__metadata__') continue;
    const entry = Entry.safeParse(raw);
    if (!entry.success) throw malformed(`its header does not describe tensor "${name}" properly`);
    tensors.set(name, readTensor(name, entry.data, data));
  }
  return { tensors, metadata: metadata.data };
}

function splitFile(bytes: Uint8Array): { header: Record<string, unknown>; data: DataView } {
  if (bytes.length < 8) throw malformed(`it has only ${bytes.length} bytes`);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const length = Number(view.getBigUint64(0, true));
  if (length > longestHeader || 8 + length > bytes.length) {
    throw malformed(`its first 8 bytes promise a header of ${length} bytes, but ${bytes.length - 8} follow`);
  }
  const header = Header.safeParse(parseHeader(bytes.subarray(8, 8 + length)));
  if (!header.success) throw malformed('its header is not a JSON object');
  const start = 8 + length;
  return { header: header.data, data: new DataView(bytes.buffer, bytes.byteOffset + start, bytes.length - start) };
}

function parseHeader(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (cause) {
    throw malformed('its header is not JSON', cause);
  }
}

function readTensor(name: string, { dtype, shape, data_offsets }: z.infer<typeof Entry>, data: DataView): StoredTensor {
  const [begin, end] = data_offsets;
  const decoder = Object.hasOwn(decoders, dtype) ? decoders[dtype]! : null;
  if (decoder === null) {
    throw new UserError(
      `Tensor "${name}" has the type ${dtype}, which cannot be read.`,
      `Save the checkpoint in one of ${Object.keys(decoders).join(', ')}.`,
    );
  }
  const count = shape.reduce((product, size) => product * size, 1);
  if (end > data.byteLength || end - begin !== count * decoder.bytes) {
    throw malformed(`tensor "${name}" of shape [${shape.join(', ')}] does not fit its bytes ${begin} to ${end}`);
  }
  const values = new Float32Array(count);
  for (let i = 0; i < count; i++) values[i] = decoder.read(data, begin + i * decoder.bytes);
  return { shape, values };
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

function malformed(why: string, cause?: unknown): UserError {
  return new UserError(
    `This is not a safetensors file, or it was cut short: ${why}.`,
    'Fetch or write the file again, or use an earlier checkpoint.',
    { cause },
  );
}
