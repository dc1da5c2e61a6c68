/**
 * The tensors of a directory: one `model.safetensors`, or several files that `model.safetensors.index.json` lists.
 *
 * Headers are read at once, numbers only on demand: a model of any size can be described, and loading one needs memory
 * for its weights once, and for one tensor.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { UserError } from '../../base/user-error.js';
import { placeTensor } from '../engine/checkpoint.js';
import type { ModelShape } from '../engine/engine.js';
import { layout, offsetsOf, parameterCount, type Tensor } from '../engine/layout.js';
import {
  decode,
  headerLength,
  isReadable,
  lengthBytes,
  readHeader,
  type StoredTensor,
  type TensorEntry,
} from '../engine/safetensors.js';
import { readText, withFile, type OpenFile } from './regular-file.js';

export const weightFiles = { one: 'model.safetensors', index: 'model.safetensors.index.json' } as const;

/** A tensor, and the file it lies in. */
type StoredEntry = TensorEntry & { readonly path: string };
export type StoredEntries = ReadonlyMap<string, StoredEntry>;

/** Bytes of the longest index; a megabyte lists some ten thousand tensors. */
const longestIndex = 64 * 2 ** 20;
/** Maximum number of parameters with 32-bit addresses: weights, gradient and both moments take 16 bytes a parameter. */
const mostParameters = 2 ** 32 / 16;

/** The tensors in the directory's files. @throws UserError when there are none, or they are inconsistent. */
export function storedEntries(directory: string): StoredEntries {
  const one = join(directory, weightFiles.one);
  if (existsSync(one)) return entriesOf(one);
  const index = join(directory, weightFiles.index);
  if (existsSync(index)) return shardedEntries(directory, index);
  const pickled =
    existsSync(join(directory, 'pytorch_model.bin')) || existsSync(join(directory, `pytorch_model.bin.index.json`));
  throw new UserError(
    `${directory} holds no ${weightFiles.one}${pickled ? ', only weights as a pickle, which can run any program' : ''}.`,
    'Save the model with `save_pretrained(…, safe_serialization=True)` of transformers.',
  );
}

/**
 * Reasons why the tensors are not those of a model of this shape, one sentence each: missing ones, other shapes, and
 * tensors that the model would not use.
 */
export function misfits(shape: ModelShape, entries: StoredEntries): string[] {
  const most = mostParameters.toLocaleString('en-US');
  if (parameterCount(shape) > mostParameters) {
    return [
      `it has ${parameterCount(shape).toLocaleString('en-US')} parameters; the engine's memory is full at ${most}`,
    ];
  }
  // Checked before any list of that length is made.
  if (shape.layers > entries.size)
    return [`the config has ${shape.layers} layers, but the files hold ${entries.size} tensors`];
  const wanted = layout(shape);
  const missing = wanted.filter(({ name }) => !entries.has(name)).map(({ name }) => name);
  const known = new Set(wanted.map(({ name }) => name));
  const extra = [...entries.keys()].filter((name) => !known.has(name) && !isRedundant(name, shape));
  return [
    ...listText('is missing', 'are missing', missing),
    ...listText('belongs to no part of the model', 'belong to no part of the model', extra),
    ...wanted.flatMap((tensor) => otherShape(tensor, entries)),
    ...unreadable(entries),
  ];
}

/**
 * The flat vector of weights, as single floats.
 *
 * @throws UserError when the tensors are not those of a model of this shape.
 */
export function loadWeights(shape: ModelShape, entries: StoredEntries): Float32Array {
  const problems = misfits(shape, entries);
  if (problems.length > 0) throw cannotLoad(problems);
  const flat = new Float32Array(offsetsOf(shape).size);
  for (const tensor of layout(shape)) placeTensor(tensor, readTensor(tensor.name, entries), flat);
  if (shape.tied && entries.has(headName)) checkHead(entries);
  return flat;
}

export function cannotLoad(problems: readonly string[]): UserError {
  return new UserError(
    `The model cannot be loaded: ${problems.join('; ')}.`,
    'Use a LlamaForCausalLM or a Qwen2ForCausalLM, as `save_pretrained` of transformers writes it.',
  );
}

const headName = 'lm_head.weight';

/**
 * Tensors without effect: a tied head that is stored all the same, and RoPE's frequencies (transformers before 4.32).
 */
function isRedundant(name: string, { tied }: ModelShape): boolean {
  return (tied && name === headName) || /^model\.layers\.\d+\.self_attn\.rotary_emb\.inv_freq$/.test(name);
}

/**
 * @throws UserError when a head that should be the embedding is another matrix: programs differ on which of them they
 * use.
 */
function checkHead(entries: StoredEntries): void {
  const [head, embedding] = [headName, 'model.embed_tokens.weight'].map((name) => readTensor(name, entries).values);
  if (head!.length === embedding!.length && head!.every((value, at) => Object.is(value, embedding![at]))) return;
  throw cannotLoad([`\`tie_word_embeddings\` is true, and ${headName} is not the embedding`]);
}

function otherShape({ name, shape }: Tensor, entries: StoredEntries): string[] {
  const stored = entries.get(name);
  if (stored === undefined || stored.shape.join() === shape.join()) return [];
  return [`"${name}" has shape [${stored.shape.join(', ')}], and the config makes it [${shape.join(', ')}]`];
}

function unreadable(entries: StoredEntries): string[] {
  const types = [...new Set([...entries.values()].map(({ dtype }) => dtype))].filter((dtype) => !isReadable(dtype));
  return types.map((dtype) => `tensors are of type ${dtype}, which cannot be read`);
}

function listText(one: string, several: string, names: readonly string[]): string[] {
  if (names.length === 0) return [];
  const shown = names.slice(0, 3).map((name) => `"${name}"`);
  const more = names.length > shown.length ? ` and ${names.length - shown.length} more` : '';
  return [`${shown.join(', ')}${more} ${names.length === 1 ? one : several}`];
}

export function readTensor(name: string, entries: StoredEntries): StoredTensor {
  const entry = entries.get(name)!;
  return decode(
    name,
    entry,
    withFile(entry.path, (file) => file.read(entry.begin, entry.end)),
  );
}

function entriesOf(path: string): Map<string, StoredEntry> {
  return withFile(path, (file) => {
    const { entries } = readHeader(headerOf(file), { name: path, bytes: file.bytes });
    return new Map([...entries].map(([name, entry]) => [name, { ...entry, path }]));
  });
}

function headerOf(file: OpenFile): Uint8Array {
  const first = file.read(0, Math.min(lengthBytes, file.bytes));
  return file.read(lengthBytes, lengthBytes + headerLength(first, file.bytes, file.path));
}

const Index = z.looseObject({ weight_map: z.record(z.string(), z.string()) });

function shardedEntries(directory: string, path: string): StoredEntries {
  const index = Index.safeParse(parseJson(readText(path, longestIndex)));
  if (!index.success) throw badIndex(path, 'it has no `weight_map` from tensors to files');
  const map = new Map(Object.entries(index.data.weight_map));
  const entries = new Map<string, StoredEntry>();
  for (const file of new Set(map.values())) {
    // Only a plain name is allowed: a path could lead out of the directory.
    if (!/^[^/\\]+\.safetensors$/.test(file))
      throw badIndex(path, `${JSON.stringify(file)} is not a safetensors file beside it`);
    for (const [name, entry] of entriesOf(join(directory, file))) {
      if (map.get(name) !== file) throw badIndex(path, `${file} holds "${name}", which the index does not list`);
      entries.set(name, entry);
    }
  }
  const lost = [...map.keys()].find((name) => !entries.has(name));
  if (lost !== undefined) throw badIndex(path, `${map.get(lost)} does not hold "${lost}"`);
  return entries;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function badIndex(path: string, why: string): UserError {
  return new UserError(`${path} does not fit its files: ${why}.`, 'Fetch or write the model again.');
}
