/** Reads and writes the protobuf messages of the official SDK. The field numbers are those of SDK 0.38.0. */
import { BinaryReader, BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import { bytesOf, denseOf, dtypes, int64Bytes, numbersOf, type Tensor } from './tensors.js';

/** A sequence, and the inputs of the loss under their names in the protocol. */
export type WireDatum = {
  readonly tokens: Int32Array;
  readonly inputs: ReadonlyMap<string, Tensor>;
};

export type ForwardBackwardRequest = {
  readonly modelId: string;
  readonly seqId: number | null;
  readonly data: readonly WireDatum[];
  readonly lossFn: string;
  readonly config: Readonly<Record<string, number | string>>;
  readonly forwardOnly: boolean;
};

export type ForwardBackwardOutput = {
  /** Has one array for each datum. */
  readonly logprobs: readonly Float32Array[];
  /** Shape of the scores of one token, for each datum; absent or empty: a single number. */
  readonly trailing?: readonly (readonly number[])[];
  readonly metrics: Readonly<Record<string, number>>;
};

export type SampledSequence = {
  readonly stopReason: 'stop' | 'length';
  readonly tokens: Int32Array;
  readonly logprobs: Float32Array;
  /** A row for each token; null when the client did not ask. */
  readonly topLogprobs: TopLogprobs | null;
};

/** Log-probability of cells that are empty; their token is 0. */
export const emptyCell = -99_999;

/** Row-major [length × k]. */
export type TopLogprobs = { readonly tokens: Int32Array; readonly logprobs: Float32Array; readonly k: number };

export type SampleResponse = {
  readonly sequences: readonly SampledSequence[];
  /** The first is NaN, because nothing comes before the first token. null when the client did not ask. */
  readonly promptLogprobs: Float32Array | null;
  readonly topPromptLogprobs: TopLogprobs | null;
  /** Absent when the client did not ask. */
  readonly targetPromptLogprobs?: PromptTensor;
  readonly promptAltTokens?: { readonly tokens: PromptTensor; readonly logprobs: PromptTensor };
};

/**
 * Numbers for places of a prompt after its first, in rows. `sparse`: where they are, row by row (CSR), as the client named the places; else
 * all are there.
 */
export type PromptTensor = {
  readonly values: Float32Array | Int32Array;
  readonly shape: readonly number[];
  readonly sparse: { readonly rows: readonly number[]; readonly columns: readonly number[] } | null;
};

type Visit = (field: number, type: WireType) => boolean;

/**
 * Reads the fields of a message; `visit` returns false for a field that is to be skipped.
 * @throws Error when the message is cut off.
 */
function readFields(bytes: Uint8Array, begin: (reader: BinaryReader) => Visit): void {
  const reader = new BinaryReader(bytes);
  const visit = begin(reader);
  while (reader.pos < reader.len) {
    const [field, type] = reader.tag();
    if (!visit(field, type)) reader.skip(type, field);
  }
}

/** Reads fields that all are of the `bytes` kind: strings, messages, packed numbers. */
function readParts(bytes: Uint8Array, take: (field: number, part: Uint8Array) => void): void {
  readFields(bytes, (reader) => (field, type) => {
    if (type !== WireType.LengthDelimited) return false;
    take(field, reader.bytes());
    return true;
  });
}

const text = new TextDecoder();

export function readForwardBackwardRequest(bytes: Uint8Array): ForwardBackwardRequest {
  let [modelId, lossFn, forwardOnly] = ['', '', false];
  let seqId: number | null = null;
  const data: WireDatum[] = [];
  const config: Record<string, number | string> = {};
  const number = (reader: BinaryReader, field: number): boolean => {
    if (field === 2) seqId = reader.int32();
    else if (field === 6) forwardOnly = reader.bool();
    else return false;
    return true;
  };
  readFields(bytes, (reader) => (field, type) => {
    if (type === WireType.Varint) return number(reader, field);
    if (type !== WireType.LengthDelimited) return false;
    if (field === 1) modelId = reader.string();
    else if (field === 3) data.push(readDatum(reader.bytes()));
    else if (field === 4) lossFn = reader.string();
    else if (field === 5) Object.assign(config, readSetting(reader.bytes(), readNumberEntry));
    else if (field === 7) Object.assign(config, readSetting(reader.bytes(), readValueEntry));
    else return false;
    return true;
  });
  return { modelId, seqId, data, lossFn, config, forwardOnly };
}

/** Reads the place of a request in its model's order, without its data. @throws Error when the message is truncated. */
export function readModelPlace(bytes: Uint8Array): Pick<ForwardBackwardRequest, 'modelId' | 'seqId'> {
  let modelId = '';
  let seqId: number | null = null;
  readFields(bytes, (reader) => (field, type) => {
    if (field === 1 && type === WireType.LengthDelimited) modelId = reader.string();
    else if (field === 2 && type === WireType.Varint) seqId = reader.int32();
    else return false;
    return true;
  });
  return { modelId, seqId };
}

type Entry = { key: string; value: number | string };

function readSetting(
  bytes: Uint8Array,
  into: (bytes: Uint8Array, entry: Entry) => void,
): Record<string, number | string> {
  const entry: Entry = { key: '', value: 0 };
  into(bytes, entry);
  return { [entry.key]: entry.value };
}

function readNumberEntry(bytes: Uint8Array, entry: Entry): void {
  readFields(bytes, (reader) => (field, type) => {
    if (field === 1 && type === WireType.LengthDelimited) entry.key = reader.string();
    else if (field === 2 && type === WireType.Bit64) entry.value = reader.double();
    else if (field === 2 && type === WireType.Bit32) entry.value = reader.float();
    else return false;
    return true;
  });
}

function readValueEntry(bytes: Uint8Array, entry: Entry): void {
  readParts(bytes, (field, part) => {
    if (field === 1) entry.key = text.decode(part);
    if (field !== 2) return;
    readFields(part, (reader) => (kind, type) => {
      if (kind === 1 && type === WireType.Bit64) entry.value = reader.double();
      else if (kind === 2 && type === WireType.LengthDelimited) entry.value = reader.string();
      else return false;
      return true;
    });
  });
}

function readDatum(bytes: Uint8Array): WireDatum {
  const chunks: Uint8Array[] = [];
  const inputs = new Map<string, Tensor>();
  readParts(bytes, (field, part) => {
    if (field === 1) chunks.push(readTextChunk(part));
    if (field === 2) readInput(part, inputs);
  });
  const tokens = numbersOf(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks), dtypes.int32) as Int32Array;
  return { tokens, inputs };
}

export const notText = 'A chunk of the model input is not text, and the models here read only text';

/** Reads the bytes of the tokens. @throws Error for a chunk that is a picture or a sound. */
function readTextChunk(bytes: Uint8Array): Uint8Array {
  let tokens: Uint8Array = new Uint8Array(0);
  readParts(bytes, (field, part) => {
    if (field !== 1) throw new Error(`${notText}.`);
    readParts(part, (inner, content) => {
      if (inner === 1) tokens = content;
    });
  });
  return tokens;
}

function readInput(bytes: Uint8Array, inputs: Map<string, Tensor>): void {
  let name = '';
  let tensor: Tensor | null = null;
  readParts(bytes, (field, part) => {
    if (field === 1) name = text.decode(part);
    if (field === 2) tensor = readTensor(part);
  });
  if (tensor !== null) inputs.set(name, tensor);
}

function readTensor(bytes: Uint8Array): Tensor {
  let dtype: number = dtypes.float32;
  const parts = new Map<number, Uint8Array>();
  const shape: number[] = [];
  readFields(bytes, (reader) => (field, type) => {
    if (type === WireType.LengthDelimited) {
      const part = reader.bytes();
      if (field === 4) readPacked(part, shape);
      else parts.set(field, part);
    } else if (field === 3 && type === WireType.Varint) dtype = reader.int32();
    else if (field === 4 && type === WireType.Varint) shape.push(Number(reader.int64()));
    else return false;
    return true;
  });
  const sparse = parts.get(2);
  if (sparse !== undefined) return denseOf(readSparse(sparse, dtype), shape);
  const values = numbersOf(parts.get(1) ?? new Uint8Array(0), dtype);
  return { values, shape: shape.length === 0 ? [values.length] : shape };
}

function readSparse(bytes: Uint8Array, dtype: number): Parameters<typeof denseOf>[0] {
  const parts = new Map<number, Uint8Array>();
  readParts(bytes, (field, part) => parts.set(field, part));
  const numbers = (field: number, type: number) => numbersOf(parts.get(field) ?? new Uint8Array(0), type);
  return { values: numbers(1, dtype), rows: numbers(2, dtypes.int64), columns: numbers(3, dtypes.int64) };
}

function readPacked(bytes: Uint8Array, into: number[]): void {
  const reader = new BinaryReader(bytes);
  while (reader.pos < reader.len) into.push(Number(reader.int64()));
}

/** Writes a message inside another. */
function writeNested(writer: BinaryWriter, field: number, write: (inner: BinaryWriter) => void): void {
  writer.tag(field, WireType.LengthDelimited).fork();
  write(writer);
  writer.join();
}

function part(writer: BinaryWriter, field: number, bytes: Uint8Array): void {
  writer.tag(field, WireType.LengthDelimited).bytes(bytes);
}

function string(writer: BinaryWriter, field: number, value: string): void {
  writer.tag(field, WireType.LengthDelimited).string(value);
}

export function writeForwardBackwardRequest(request: ForwardBackwardRequest): Uint8Array {
  const writer = new BinaryWriter();
  string(writer, 1, request.modelId);
  if (request.seqId !== null) writer.tag(2, WireType.Varint).int32(request.seqId);
  for (const datum of request.data) writeNested(writer, 3, () => writeDatum(writer, datum));
  string(writer, 4, request.lossFn);
  for (const [key, value] of Object.entries(request.config)) {
    if (typeof value !== 'number') continue;
    writeNested(writer, 5, () => {
      string(writer, 1, key);
      writer.tag(2, WireType.Bit64).double(value);
    });
  }
  if (request.forwardOnly) writer.tag(6, WireType.Varint).bool(true);
  return writer.finish();
}

function writeDatum(writer: BinaryWriter, { tokens, inputs }: WireDatum): void {
  writeNested(writer, 1, () => writeNested(writer, 1, () => part(writer, 1, bytesOf(tokens))));
  for (const [name, { values, shape }] of inputs) {
    writeNested(writer, 2, () => {
      string(writer, 1, name);
      writeNested(writer, 2, () => {
        const isFloat = values instanceof Float32Array;
        part(writer, 1, isFloat ? bytesOf(values) : int64Bytes(values));
        writer.tag(3, WireType.Varint).int32(isFloat ? dtypes.float32 : dtypes.int64);
        writeNested(writer, 4, () => shape.forEach((size) => writer.int64(size)));
      });
    });
  }
}

export function writeForwardBackwardOutput({ logprobs, trailing, metrics }: ForwardBackwardOutput): Uint8Array {
  const writer = new BinaryWriter();
  string(writer, 1, 'ArrayRecord');
  const shapeOf = (at: number) => (trailing?.[at] ?? []).join();
  // Sequences of the same shape share a record, since a record has one shape.
  for (let at = 0; at === 0 || at < logprobs.length;) {
    let end = at + 1;
    while (end < logprobs.length && shapeOf(end) === shapeOf(at)) end++;
    writeRecord(writer, logprobs.slice(at, end), trailing?.[at] ?? []);
    at = end;
  }
  for (const [key, value] of Object.entries(metrics)) {
    writeNested(writer, 3, () => {
      string(writer, 1, key);
      writer.tag(2, WireType.Bit64).double(value);
    });
  }
  return writer.finish();
}

function writeRecord(writer: BinaryWriter, logprobs: readonly Float32Array[], trailing: readonly number[]): void {
  writeNested(writer, 2, () => {
    writeNested(writer, 2, () => {
      string(writer, 1, 'logprobs');
      writeNested(writer, 2, () => writeBatchedTensor(writer, logprobs, trailing));
    });
    writer.tag(3, WireType.Varint).int64(logprobs.length);
  });
}

function writeBatchedTensor(writer: BinaryWriter, arrays: readonly Float32Array[], trailing: readonly number[]): void {
  const offsets = [0];
  for (const { byteLength } of arrays) offsets.push(offsets.at(-1)! + byteLength);
  part(writer, 1, Buffer.concat(arrays.map(bytesOf)));
  part(writer, 2, int64Bytes(offsets));
  writer.tag(3, WireType.Varint).int32(dtypes.float32);
  if (trailing.length > 0) writeNested(writer, 4, () => trailing.forEach((size) => writer.int64(size)));
}

export function readForwardBackwardOutput(bytes: Uint8Array): ForwardBackwardOutput {
  const logprobs: Float32Array[] = [];
  const metrics: Record<string, number> = {};
  readParts(bytes, (field, part) => {
    if (field === 3) Object.assign(metrics, readSetting(part, readNumberEntry));
    if (field !== 2) return;
    readParts(part, (inner, entry) => {
      if (inner === 2) logprobs.push(...readLogprobs(entry));
    });
  });
  return { logprobs, metrics };
}

/** Reads the arrays of an entry named `logprobs`; returns none for any other entry. */
function readLogprobs(bytes: Uint8Array): Float32Array[] {
  let name = '';
  let tensor: Uint8Array = new Uint8Array(0);
  readParts(bytes, (field, part) => {
    if (field === 1) name = text.decode(part);
    if (field === 2) tensor = part;
  });
  if (name !== 'logprobs') return [];
  const parts = new Map<number, Uint8Array>();
  readParts(tensor, (field, part) => parts.set(field, part));
  const offsets = numbersOf(parts.get(2) ?? new Uint8Array(0), dtypes.int64);
  const data = parts.get(1) ?? new Uint8Array(0);
  return Array.from(offsets.subarray(1), (end, index) =>
    Float32Array.from(numbersOf(data.subarray(offsets[index], end), dtypes.float32)),
  );
}

export function writeSampleResponse(response: SampleResponse): Uint8Array {
  const { sequences, promptLogprobs, topPromptLogprobs: top } = response;
  const { targetPromptLogprobs: targets, promptAltTokens: alternatives } = response;
  const writer = new BinaryWriter();
  for (const { stopReason, tokens, logprobs, topLogprobs } of sequences) {
    writeNested(writer, 1, () => {
      writer.tag(1, WireType.Varint).int32(stopReason === 'stop' ? 0 : 1);
      part(writer, 2, bytesOf(tokens));
      part(writer, 3, bytesOf(logprobs));
      if (topLogprobs !== null) writeTopLogprobs(writer, 4, topLogprobs);
    });
  }
  if (promptLogprobs !== null) part(writer, 2, bytesOf(promptLogprobs));
  if (top !== null) writeTopLogprobs(writer, 3, top);
  if (targets !== undefined) writeNested(writer, 5, () => writePromptTensor(writer, targets));
  if (alternatives !== undefined) {
    writeNested(writer, 6, () => {
      writeNested(writer, 1, () => writePromptTensor(writer, alternatives.tokens));
      writeNested(writer, 2, () => writePromptTensor(writer, alternatives.logprobs));
    });
  }
  return writer.finish();
}

function writePromptTensor(writer: BinaryWriter, { values, shape, sparse }: PromptTensor): void {
  if (sparse === null) part(writer, 1, bytesOf(values));
  else {
    writeNested(writer, 2, () => {
      part(writer, 1, bytesOf(values));
      part(writer, 2, int64Bytes(sparse.rows));
      part(writer, 3, int64Bytes(sparse.columns));
    });
  }
  writer.tag(3, WireType.Varint).int32(values instanceof Float32Array ? dtypes.float32 : dtypes.int32);
  writeNested(writer, 4, () => shape.forEach((size) => writer.int64(size)));
}

function writeTopLogprobs(writer: BinaryWriter, field: number, { tokens, logprobs, k }: TopLogprobs): void {
  writeNested(writer, field, () => {
    part(writer, 1, bytesOf(tokens));
    part(writer, 2, bytesOf(logprobs));
    writer.tag(3, WireType.Varint).uint32(k);
    writer.tag(4, WireType.Varint).uint32(k === 0 ? 0 : tokens.length / k);
  });
}

export function readSampleResponse(bytes: Uint8Array): SampleResponse {
  const sequences: SampledSequence[] = [];
  let promptLogprobs: Float32Array | null = null;
  readParts(bytes, (field, part) => {
    if (field === 1) sequences.push(readSequence(part));
    if (field === 2) promptLogprobs = Float32Array.from(numbersOf(part, dtypes.float32));
  });
  return { sequences, promptLogprobs, topPromptLogprobs: null };
}

function readSequence(bytes: Uint8Array): SampledSequence {
  let reason = 0;
  let [tokens, logprobs]: [Uint8Array, Uint8Array] = [new Uint8Array(0), new Uint8Array(0)];
  readFields(bytes, (reader) => (field, type) => {
    if (field === 1 && type === WireType.Varint) reason = reader.int32();
    else if (type !== WireType.LengthDelimited) return false;
    else if (field === 2) tokens = reader.bytes();
    else if (field === 3) logprobs = reader.bytes();
    else return false;
    return true;
  });
  return {
    stopReason: reason === 0 ? 'stop' : 'length',
    tokens: Int32Array.from(numbersOf(tokens, dtypes.int32)),
    logprobs: Float32Array.from(numbersOf(logprobs, dtypes.float32)),
    topLogprobs: null,
  };
}
