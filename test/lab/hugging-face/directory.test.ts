import {
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { UserError } from '../../../src/base/user-error.js';
import { presets } from '../../../src/lab/engine/model-shape.js';
import { weightTensors } from '../../../src/lab/engine/checkpoint.js';
import { readSafetensors, writeSafetensors, type StoredTensor } from '../../../src/lab/engine/safetensors.js';
import { describe as look, loadModel, saveModel } from '../../../src/lab/hugging-face/directory.js';
import { maxDifference, trainedLooking } from '../engine/models.js';
import { tempDirectory } from '../temp-directory.js';
import { copyOf, engineOf, expected, fixtures, nextLogprobs } from './fixtures.js';

const tied = 'grouped-tied';
const sharded = 'plain-untied-sharded';

const models = [
  { name: tied, what: 'grouped queries, tied head, single floats', dtype: 'F32' },
  { name: sharded, what: 'plain attention, untied head, seven files of bfloat16, RoPE base 500,000', dtype: 'BF16' },
  { name: 'grouped-untied', what: 'grouped queries, untied head, half floats', dtype: 'F16' },
];
const furtherModels = [
  { name: 'qwen2', what: 'biases of queries, keys and values', dtype: 'BF16' },
  { name: 'llama-3-rope', what: 'RoPE as Llama 3.1 scales it', dtype: 'BF16' },
];

describe('a directory that transformers saved', () => {
  it.each([...models, ...furtherModels])(
    'gives the log-probabilities that transformers computes: $what',
    async ({ name, dtype }) => {
      const directory = join(fixtures, name);
      expect(new Set([...look(directory).entries.values()].map((entry) => entry.dtype))).toEqual(new Set([dtype]));
      const { tokens, logprobs } = expected(name);
      const found = await nextLogprobs(await engineOf(loadModel(directory)), tokens);
      expect(maxDifference(found.flat(), logprobs.flat())).toBeLessThan(2e-5);
      // They are far from uniform: a model of which a part is missing would show it.
      expect(Math.max(...logprobs.flat()) - Math.min(...logprobs.flat())).toBeGreaterThan(5);
    },
  );

  it('gives the same result with a feed-forward width that no vector length divides', async () => {
    const directory = join(fixtures, 'feed-forward-341');
    expect(look(directory).problems).toEqual([]);
    const { tokens, logprobs } = expected('feed-forward-341');
    const found = await nextLogprobs(await engineOf(loadModel(directory)), tokens);
    expect(maxDifference(found.flat(), logprobs.flat())).toBeLessThan(2e-5);
  });

  it('gives the scores of a continuation, too', async () => {
    const { tokens, logprobs } = expected(sharded);
    const engine = await engineOf(loadModel(join(fixtures, sharded)));
    const [prompt, continuation] = [Int32Array.from(tokens.slice(0, 3)), Int32Array.from(tokens.slice(3))];
    const scores = await engine.forward([{ prompt, continuations: [continuation] }]);
    expect(
      maxDifference(
        scores.logprobs,
        tokens.slice(3).map((token, at) => logprobs[2 + at]![token]!),
      ),
    ).toBeLessThan(2e-5);
  });

  it.each(furtherModels)('gives the gradients that transformers computes: $what', async ({ name }) => {
    const { tokens, gradients } = expected(name);
    const model = loadModel(join(fixtures, name));
    const engine = await engineOf(model);
    const [prompt, continuation] = [Int32Array.of(tokens[0]!), Int32Array.from(tokens.slice(1))];
    await engine.forward([{ prompt, continuations: [continuation] }]);
    await engine.backward(new Float32Array(continuation.length).fill(-1 / continuation.length), null);
    const own = weightTensors(model.config.shape, await engine.gradient());
    for (const [tensor, values] of Object.entries(gradients!)) {
      expect(maxDifference(own.get(tensor)!.values, values), tensor).toBeLessThan(2e-5);
      expect(Math.max(...values.map(Math.abs)), tensor).toBeGreaterThan(1e-3);
    }
  });

  it('names the tokens that begin and end a text', () => {
    expect(loadModel(join(fixtures, tied)).config).toMatchObject({ beginning: 3, endings: [1] });
    expect(loadModel(join(fixtures, sharded)).config).toMatchObject({ endings: [2, 5] });
  });
});

describe('a directory that is saved', () => {
  it('has the same bytes of weights as from transformers', () => {
    const saved = tempDirectory();
    saveModel(saved, loadModel(join(fixtures, tied)));
    const bytes = (directory: string) => readFileSync(join(directory, 'model.safetensors'));
    expect(bytes(saved).equals(bytes(join(fixtures, tied)))).toBe(true);
  });

  it.each(furtherModels)('loads as the same model: $what', ({ name }) => {
    const saved = tempDirectory();
    const model = loadModel(join(fixtures, name));
    saveModel(saved, model);
    expect(loadModel(saved)).toEqual(model);
    const { architectures } = JSON.parse(readFileSync(join(saved, 'config.json'), 'utf8')) as {
      architectures: string[];
    };
    expect(architectures).toEqual([name === 'qwen2' ? 'Qwen2ForCausalLM' : 'LlamaForCausalLM']);
  });

  it.each(models)('has the config that transformers 5 writes and version 4 reads: $what', ({ name }) => {
    const saved = tempDirectory();
    saveModel(saved, loadModel(join(fixtures, name)));
    const config = (directory: string) =>
      JSON.parse(readFileSync(join(directory, 'config.json'), 'utf8')) as Record<string, unknown>;
    const theirs = config(join(fixtures, name));
    delete theirs['transformers_version'];
    const rope = theirs['rope_parameters'] as { rope_theta: number };
    expect(config(saved)).toEqual({
      ...theirs,
      dtype: 'float32',
      torch_dtype: 'float32',
      rope_theta: rope.rope_theta,
    });
  });

  it('replaces an earlier one as a whole, and loads again', async () => {
    const saved = join(tempDirectory(), 'new', 'folder');
    const engine = await trainedLooking('wasm', presets.micro);
    const model = { config: { shape: engine.shape, beginning: 0, endings: [1, 2] }, weights: await engine.weights() };
    saveModel(saved, loadModel(join(fixtures, tied)));
    saveModel(saved, model);
    expect(readdirSync(saved).sort()).toEqual(['config.json', 'model.safetensors']);
    expect(loadModel(saved)).toEqual(model);
  });
});

/** Spoils a copy of a fixture. */
type Spoil = (directory: string) => void;

const editJson =
  (file: string, change: (value: Record<string, unknown>) => void): Spoil =>
  (directory) => {
    const value = JSON.parse(readFileSync(join(directory, file), 'utf8')) as Record<string, unknown>;
    change(value);
    writeFileSync(join(directory, file), JSON.stringify(value));
  };
const config = (change: Record<string, unknown>): Spoil =>
  editJson('config.json', (value) => Object.assign(value, change));
const without = (key: string): Spoil => editJson('config.json', (value) => delete value[key]);
const tensors =
  (change: (tensors: Map<string, StoredTensor>) => void): Spoil =>
  (directory) => {
    const path = join(directory, 'model.safetensors');
    const read = readSafetensors(readFileSync(path));
    const changed = new Map(read.tensors);
    change(changed);
    writeFileSync(path, writeSafetensors({ ...read, tensors: changed }));
  };
const zeros = (...shape: number[]): StoredTensor => ({
  shape,
  values: new Float32Array(shape.reduce((product, size) => product * size, 1)),
});
const weightMap = (change: (map: Record<string, string>) => void): Spoil =>
  editJson('model.safetensors.index.json', (value) => change(value['weight_map'] as Record<string, string>));

describe('a model that cannot be computed', () => {
  it.each<{ what: string; spoil: Spoil; says: RegExp }>([
    {
      what: 'of another architecture',
      spoil: config({ model_type: 'mistral' }),
      says: /type "mistral"; only "llama" and "qwen2"/,
    },
    { what: 'without a language head', spoil: config({ architectures: ['LlamaModel'] }), says: /is LlamaModel, not/ },
    {
      what: 'with scaled RoPE, as version 4 writes it',
      spoil: config({ rope_scaling: { type: 'linear', factor: 2 } }),
      says: /`rope_scaling` is linear/,
    },
    {
      what: 'with scaled RoPE, as version 5 writes it',
      spoil: config({ rope_parameters: { rope_type: 'llama3', rope_theta: 5e5, factor: 8 } }),
      says: /`rope_parameters` is llama3 without low_freq_factor/,
    },
    {
      what: 'with RoPE of several kinds',
      spoil: config({ rope_parameters: { full_attention: { rope_type: 'default', rope_theta: 1e6 } } }),
      says: /several sets/,
    },
    { what: 'with RoPE on half of a head', spoil: config({ partial_rotary_factor: 0.5 }), says: /factor` is 0.5/ },
    {
      what: 'with RoPE scaled as by Llama 3, but not said how',
      spoil: config({ rope_scaling: { rope_type: 'llama3', factor: 8 } }),
      says: /`rope_scaling` is llama3 without low_freq_factor, high_freq_factor, original/,
    },
    {
      what: 'whose attention sees a window alone',
      spoil: config({ use_sliding_window: true }),
      says: /`use_sliding_window` is true/,
    },
    { what: 'with a bias in attention', spoil: config({ attention_bias: true }), says: /`attention_bias` is true/ },
    { what: 'with a bias in the MLP', spoil: config({ mlp_bias: true }), says: /`mlp_bias` is true/ },
    { what: 'with another activation', spoil: config({ hidden_act: 'gelu' }), says: /`hidden_act` is gelu/ },
    { what: 'with heads of another width', spoil: config({ head_dim: 16 }), says: /`head_dim` is 16, not/ },
    { what: 'quantized', spoil: config({ quantization_config: { bits: 4 } }), says: /quantization_config/ },
    {
      what: 'with heads that do not divide',
      spoil: config({ num_attention_heads: 3, head_dim: null }),
      says: /`width`, 16/,
    },
    { what: 'without a width', spoil: without('hidden_size'), says: /`hidden_size`/ },
    { what: 'with a negative number of layers', spoil: config({ num_hidden_layers: -1 }), says: /`num_hidden_layers`/ },
    {
      what: 'with more layers than tensors',
      spoil: config({ num_hidden_layers: 1000 }),
      says: /config has 1000 layers/,
    },
    {
      what: 'that is too large for any memory',
      spoil: config({ vocab_size: 2 ** 40 }),
      says: /17,592,186,\d+,\d+ parameters/,
    },
    { what: 'with a layer too few', spoil: config({ num_hidden_layers: 1 }), says: /and 6 more belong to no part/ },
    { what: 'with a layer too many', spoil: config({ num_hidden_layers: 3 }), says: /and 6 more are missing/ },
    {
      what: 'with a bias among its tensors',
      spoil: tensors((t) => t.set('model.norm.bias', zeros(16))),
      says: /"model.norm.bias" belongs to no/,
    },
    {
      what: 'without one of its tensors',
      spoil: tensors((t) => t.delete('model.norm.weight')),
      says: /"model.norm.weight" is missing/,
    },
    {
      what: 'with a tensor of another shape',
      spoil: tensors((t) => t.set('model.norm.weight', zeros(4, 4))),
      says: /"model.norm.weight" has shape \[4, 4\], and the config makes it \[16\]/,
    },
    {
      what: 'in a type of eight bits',
      spoil: (directory) => {
        const path = join(directory, 'model.safetensors');
        const text = readFileSync(path, 'latin1').replace('"dtype":"F32","shape":[16]', '"dtype":"F8_","shape":[16]');
        writeFileSync(path, text, 'latin1');
      },
      says: /tensors are of type F8_, which cannot be read/,
    },
    {
      what: 'with a tied head that is not the embedding',
      spoil: tensors((t) => t.set('lm_head.weight', zeros(48, 16))),
      says: /lm_head.weight is not the embedding/,
    },
    {
      what: 'untied without a head',
      spoil: config({ tie_word_embeddings: false }),
      says: /"lm_head.weight" is missing/,
    },
    {
      what: 'whose config is not JSON',
      spoil: (directory) => truncateSync(join(directory, 'config.json'), 9),
      says: /is not JSON/,
    },
    {
      what: 'whose config is longer than makes sense',
      spoil: (directory) => truncateSync(join(directory, 'config.json'), 2 ** 30),
      says: /the most that make sense/,
    },
    {
      what: 'whose weights are cut short',
      spoil: (directory) => truncateSync(join(directory, 'model.safetensors'), 20_000),
      says: /model.safetensors is not a safetensors file, or it was cut short: tensor/,
    },
    {
      what: 'whose weights are a directory',
      spoil: (directory) => {
        rmSync(join(directory, 'model.safetensors'));
        mkdirSync(join(directory, 'model.safetensors'));
      },
      says: /cannot be read: it is not a regular file/,
    },
    {
      what: 'whose weights are a device',
      spoil: (directory) => {
        rmSync(join(directory, 'model.safetensors'));
        symlinkSync('/dev/zero', join(directory, 'model.safetensors'));
      },
      says: /cannot be read: it is not a regular file/,
    },
    {
      what: 'whose weights are a pickle',
      spoil: (directory) => renameSync(join(directory, 'model.safetensors'), join(directory, 'pytorch_model.bin')),
      says: /only weights as a pickle/,
    },
    {
      what: 'without weights',
      spoil: (directory) => rmSync(join(directory, 'model.safetensors')),
      says: /holds no model.safetensors\./,
    },
  ])('is refused: $what', ({ spoil, says }) => {
    const directory = copyOf(tied);
    spoil(directory);
    expect(() => loadModel(directory)).toThrow(UserError);
    expect(() => loadModel(directory)).toThrow(says);
  });

  it.each<{ what: string; spoil: Spoil; says: RegExp }>([
    {
      what: 'leads out of the directory',
      spoil: weightMap((map) => (map['lm_head.weight'] = '../../model.safetensors')),
      says: /"\.\.\/\.\.\/model.safetensors" is not a safetensors file beside it/,
    },
    {
      what: 'leads to a place of its own',
      spoil: weightMap((map) => (map['lm_head.weight'] = '/etc/passwd')),
      says: /"\/etc\/passwd" is not/,
    },
    {
      what: 'names a file that is not there',
      spoil: weightMap((map) => (map['lm_head.weight'] = 'other.safetensors')),
      says: /other.safetensors cannot be read: ENOENT/,
    },
    {
      what: 'says a tensor to be in another file',
      spoil: weightMap((map) => (map['lm_head.weight'] = 'model-00001-of-00007.safetensors')),
      says: /holds "lm_head.weight", which the index does not list|does not hold "lm_head.weight"/,
    },
    {
      what: 'passes over a tensor',
      spoil: weightMap((map) => delete map['lm_head.weight']),
      says: /holds "lm_head.weight", which the index does not list/,
    },
    {
      what: 'has no map',
      spoil: editJson('model.safetensors.index.json', (value) => delete value['weight_map']),
      says: /no `weight_map`/,
    },
  ])('is refused when its index $what', ({ spoil, says }) => {
    const directory = copyOf(sharded);
    spoil(directory);
    expect(() => loadModel(directory)).toThrow(UserError);
    expect(() => loadModel(directory)).toThrow(says);
  });

  it('is described all the same, with every problem', () => {
    const directory = copyOf(tied);
    config({ hidden_act: 'gelu', mlp_bias: true })(directory);
    const { config: found, problems } = look(directory);
    expect(found.shape).toMatchObject({ layers: 2, width: 16, kvHeads: 1 });
    expect(problems).toHaveLength(2);
  });
});

describe('what changes nothing of what is computed', () => {
  it.each<{ what: string; spoil: Spoil }>([
    {
      what: 'RoPE as transformers 4 wrote it',
      spoil: editJson('config.json', (value) => {
        delete value['rope_parameters'];
        value['rope_theta'] = 10000;
        value['rope_scaling'] = null;
      }),
    },
    {
      what: 'defaults left out',
      spoil: editJson('config.json', (value) => {
        for (const key of ['rope_parameters', 'head_dim', 'hidden_act', 'attention_bias', 'mlp_bias', 'rms_norm_eps'])
          delete value[key];
      }),
    },
    {
      what: 'a tied head that is stored all the same',
      spoil: tensors((t) => t.set('lm_head.weight', t.get('model.embed_tokens.weight')!)),
    },
    {
      what: "RoPE's frequencies among the tensors",
      spoil: tensors((t) => t.set('model.layers.1.self_attn.rotary_emb.inv_freq', zeros(4))),
    },
    { what: 'keys of a later version', spoil: config({ use_telepathy: true }) },
  ])('has no effect: $what', ({ spoil }) => {
    const directory = copyOf(tied);
    spoil(directory);
    expect(loadModel(directory)).toEqual(loadModel(join(fixtures, tied)));
  });
});
