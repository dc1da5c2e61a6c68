import { copyFileSync, existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { UserError } from '../../base/user-error.js';
import { counted, countText, sizeText } from '../../text/numbers.js';
import { key } from '../config/key.js';
import { orNone, text } from '../config/value-type.js';
import { type Adapter, type AdapterConfig, layersOf, projections } from '../engine/adapters/config.js';
import { adapterLayout } from '../engine/adapters/layout.js';
import { mergeAdapters, type PlainModel } from '../engine/adapters/merging.js';
import { compiledKernels } from '../engine/create-engine.js';
import type { ModelShape } from '../engine/engine.js';
import { parameterCount } from '../engine/layout.js';
import { makeDirectory } from '../run/make-directory.js';
import { findModel, isOwn, readMerged, readModel } from '../run/model-files.js';
import { writeWhole } from '../run/run-directory.js';
import { beginning, ending, memoryTokenizer, memoryTokens } from '../text/memory-vocabulary.js';
import { hasTokensOf, type Tokenizer } from '../text/tokenizer.js';
import { architectureOf, configFiles } from './config.js';
import { describe, type LoadedModel, loadModel, saveModel } from './directory.js';
import { type PeftLora, readPeft, writePeft } from './peft.js';
import { storedEntries, type StoredEntries } from './stored-weights.js';
import { loadTokenizer, specialsOf, tokenizerFiles } from './tokenizer.js';

/** Keys of `memrl model`, which describes a saved model and exports it for other programs. */
export const modelKeys = {
  path: key(
    orNone(text),
    null,
    'a run directory, a checkpoint, or a directory of Hugging Face; `path=` may be left out',
  ),
  adapter: key(orNone(text), null, 'a directory of PEFT with LoRA for this model, to be merged into what is written'),
  output_dir: key(
    orNone(text),
    null,
    'a new directory to write the model into, as transformers reads it; adapters are merged into its weights',
  ),
  adapter_dir: key(orNone(text), null, 'a new directory to write the LoRA of a checkpoint into, as peft reads it'),
};

/**
 * Facts of a model known without reading its numbers. `problems`: reasons why it cannot be opened, one sentence each.
 */
type Facts = {
  readonly kind: string;
  readonly shape: ModelShape;
  readonly entries: StoredEntries;
  readonly tokenizer: Tokenizer | null;
  /** Adapters on frozen weights; empty for a plain model. */
  readonly adapters: AdapterConfig;
  readonly problems: readonly string[];
};

/**
 * `memrl model`: a few lines about the model at this path, and whether it can be opened.
 * @throws UserError when there is none.
 */
export function describeModel(path: string): { readonly text: string; readonly opens: boolean } {
  const directory = findModel(path);
  const facts = isOwn(directory) ? ownFacts(directory) : foreignFacts(directory);
  const rows = factRows(facts);
  const width = Math.max(...rows.map(([name]) => name.length));
  const lines = rows.map(([name, value]) => `${name.padEnd(width)}  ${value}`);
  return { text: [`${directory}: ${facts.kind}`, '', ...lines, ''].join('\n'), opens: facts.problems.length === 0 };
}

/**
 * Writes the model at this path as a directory of Hugging Face, in single precision, its adapters merged into its
 * weights.
 *
 * @param adapter A directory of PEFT whose LoRA is merged as well; null for none.
 * @throws UserError
 */
export async function exportModel(path: string, target: string, adapter: string | null = null): Promise<void> {
  const directory = findModel(path);
  const model = isOwn(directory) ? await ownModel(directory) : loadModel(directory);
  const { shape } = model.config;
  const lora = adapter === null ? null : readPeft(adapter, shape);
  emptyDirectory(target, 'output_dir');
  const plain = { shape, weights: model.weights };
  // Training the head unties it from the embedding.
  const merged = lora === null ? plain : await withLora(plain, lora);
  saveModel(target, { config: { ...model.config, shape: merged.shape }, weights: merged.weights });
  if (isOwn(directory) && !existsSync(join(directory, tokenizerFiles.tokenizer))) {
    for (const [name, text] of memoryVocabularyFiles()) writeWhole(join(target, name), text);
    return;
  }
  for (const name of foreignFiles) {
    if (existsSync(join(directory, name))) copyFileSync(join(directory, name), join(target, name));
  }
}

async function ownModel(directory: string): Promise<LoadedModel> {
  const { shape, weights } = await readMerged(directory);
  return { config: { shape, ...specialsOf(loadTokenizer(directory) ?? memoryTokenizer) }, weights };
}

async function withLora(model: PlainModel, { adapter, parameters }: PeftLora): Promise<PlainModel> {
  return mergeAdapters(await compiledKernels(), { ...model, adapters: [adapter] }, parameters);
}

/** Writes the single LoRA of a checkpoint as a directory of PEFT. @throws UserError when the checkpoint has none, or several. */
export function exportAdapter(path: string, target: string): void {
  const directory = findModel(path);
  const { shape, adapters } = readModel(directory);
  const [adapter, ...more] = adapters?.config ?? [];
  if (adapters === null || adapter?.kind !== 'lora' || more.length > 0) {
    const has = adapters === null ? 'has no adapters' : `has ${adapters.config.map(({ name }) => name).join(', ')}`;
    throw new UserError(
      `PEFT's files hold one LoRA, and ${directory} ${has}.`,
      'Give a checkpoint of a run with lora_rank, or write the whole model (output_dir).',
    );
  }
  emptyDirectory(target, 'adapter_dir');
  writePeft(target, shape, { adapter, parameters: adapters.parameters });
}

function emptyDirectory(target: string, key: 'output_dir' | 'adapter_dir'): void {
  if (existsSync(target) && readdirSync(target).length > 0) {
    throw new UserError(`${target} is not empty.`, `Give ${key} a new or empty directory.`);
  }
  makeDirectory(target, key);
}

/** Files to copy with the weights: the tokenizer's, and the defaults for generation. */
const foreignFiles = [...Object.values(tokenizerFiles), 'special_tokens_map.json', configFiles.generation];

function ownFacts(directory: string): Facts {
  const { shape, optimizer, adapters } = readModel(directory);
  const entries = storedEntries(directory);
  const hasOptimizer = (adapters ?? { optimizer }).optimizer !== null;
  const kind = `a checkpoint of memrl${hasOptimizer ? ' with its optimizer' : ''}`;
  const { tokenizer, problems } = tokenizerOf(directory, shape);
  // Checkpoints of memrl without a tokenizer are models of the memory games.
  const known = tokenizer === null && problems.length === 0 ? memoryTokenizer : tokenizer;
  return { kind, shape, entries, tokenizer: known, adapters: adapters?.config ?? [], problems };
}

function foreignFacts(directory: string): Facts {
  const { config, entries, problems } = describe(directory);
  const { tokenizer, problems: further } = tokenizerOf(directory, config.shape);
  return {
    kind: `${architectureOf(config.shape)} (Hugging Face)`,
    shape: config.shape,
    entries,
    tokenizer,
    adapters: [],
    problems: [...problems, ...further],
  };
}

function tokenizerOf(directory: string, { vocabulary }: ModelShape): Pick<Facts, 'tokenizer' | 'problems'> {
  try {
    const tokenizer = loadTokenizer(directory);
    if (tokenizer === null || tokenizer.size <= vocabulary) return { tokenizer, problems: [] };
    return { tokenizer, problems: [`the tokenizer has ${tokenizer.size} tokens, and the model knows ${vocabulary}`] };
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    return { tokenizer: null, problems: [error.message.replace(/\.$/, '')] };
  }
}

function factRows(facts: Facts): [name: string, value: string][] {
  const { shape, tokenizer, problems } = facts;
  return [
    ['shape', shapeText(shape)],
    ['context', contextText(shape)],
    ['parameters', weightsText(facts)],
    ...facts.adapters.map((adapter): [string, string] => ['adapter', adapterText(adapter, shape)]),
    ['tokenizer', tokenizer === null ? 'none' : tokenizerText(tokenizer, shape)],
    ['memory games', memoryText(tokenizer)],
    ...(problems.length === 0 ? [['opens', 'yes'] as [string, string]] : []),
    ...problems.map((problem, at): [string, string] => [at === 0 ? 'cannot open' : '', problem]),
  ];
}

function shapeText(shape: ModelShape): string {
  const { layers, width, heads, kvHeads, feedForward, vocabulary, tied, qkvBias } = shape;
  const keys = kvHeads === heads ? '' : ` on ${kvHeads} of keys and values`;
  const parts = [
    counted(layers, 'layer'),
    `width ${width}`,
    `${counted(heads, 'head')}${keys}`,
    `feed-forward ${feedForward}`,
    `vocabulary ${countText(vocabulary)}`,
    tied ? 'tied head' : 'head of its own',
    ...(qkvBias === true ? ['biases of queries, keys and values'] : []),
  ];
  return parts.join(', ');
}

function contextText({ context, ropeTheta, ropeScaling, normEpsilon }: ModelShape): string {
  const scaled = ropeScaling === undefined ? '' : ` scaled by ${ropeScaling.factor}`;
  return `${countText(context)} tokens, RoPE base ${countText(ropeTheta)}${scaled}, norm epsilon ${normEpsilon}`;
}

function weightsText({ shape, entries }: Facts): string {
  const stored = [...entries.values()];
  const types = [...new Set(stored.map(({ dtype }) => dtype))].join(', ');
  const bytes = stored.reduce((sum, { begin, end }) => sum + end - begin, 0);
  const files = new Set(stored.map(({ path }) => path)).size;
  return `${countText(parameterCount(shape))}; stored as ${types}: ${sizeText(bytes)} in ${counted(files, 'file')}`;
}

function adapterText(adapter: Adapter, shape: ModelShape): string {
  const size = countText(adapterLayout(shape, [adapter]).size);
  const where = `in ${layersOf(shape, adapter).length} of ${counted(shape.layers, 'layer')}`;
  if (adapter.kind === 'mlp')
    return `${adapter.name}: ${counted(adapter.neurons, 'neuron')} ${where}; ${size} parameters`;
  const { name, rank, alpha, targets } = adapter;
  const matrices = targets.length === projections.length ? 'all projections' : targets.join(', ');
  return `${name}: LoRA of rank ${rank}, alpha ${alpha}, on ${matrices} ${where}; ${size} parameters`;
}

function tokenizerText(tokenizer: Tokenizer, { vocabulary }: ModelShape): string {
  const { kind, size, end } = tokenizer;
  const ends =
    end === null ? 'no end-of-text token' : `${JSON.stringify(tokenizer.decode([end]))} (${end}) ends a text`;
  const of = size === vocabulary ? '' : ` of the model's ${countText(vocabulary)}`;
  return `${kind}, ${countText(size)}${of} tokens, ${ends}`;
}

function memoryText(tokenizer: Tokenizer | null): string {
  if (tokenizer !== null && hasTokensOf(tokenizer, memoryTokenizer)) return 'train, sft, warmup and eval can use it';
  const why = tokenizer === null ? 'it has no tokenizer' : 'its vocabulary is another';
  return `not for them: ${why} (memrl warmup makes a model that can play)`;
}

/** The memory vocabulary as Hugging Face's libraries read it: texts of `tokenizer.json` and `tokenizer_config.json`, by name. */
export function memoryVocabularyFiles(): Map<string, string> {
  const tokenizer = {
    version: '1.0',
    truncation: null,
    padding: null,
    // Added tokens are found in the text itself, longest first; so no word need be split off for the model.
    added_tokens: memoryTokens.map((content, id) => ({
      id,
      content,
      single_word: false,
      lstrip: false,
      rstrip: false,
      normalized: false,
      special: content === beginning,
    })),
    normalizer: null,
    pre_tokenizer: null,
    post_processor: {
      type: 'TemplateProcessing',
      single: [{ SpecialToken: { id: beginning, type_id: 0 } }, { Sequence: { id: 'A', type_id: 0 } }],
      pair: [{ Sequence: { id: 'A', type_id: 0 } }, { Sequence: { id: 'B', type_id: 0 } }],
      special_tokens: { [beginning]: { id: beginning, ids: [memoryTokenizer.id(beginning)], tokens: [beginning] } },
    },
    decoder: { type: 'Fuse' },
    // There is no token for unknown text: such a text is an error.
    model: {
      type: 'WordLevel',
      vocab: Object.fromEntries(memoryTokens.map((token, id) => [token, id])),
      unk_token: '<|unknown|>',
    },
  };
  const config = {
    bos_token: beginning,
    clean_up_tokenization_spaces: false,
    eos_token: ending,
    tokenizer_class: 'PreTrainedTokenizerFast',
  };
  return new Map([
    [tokenizerFiles.tokenizer, `${JSON.stringify(tokenizer, null, 2)}\n`],
    [tokenizerFiles.config, `${JSON.stringify(config, null, 2)}\n`],
  ]);
}
