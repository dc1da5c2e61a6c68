import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { UserError } from '../../../src/base/user-error.js';
import { readArguments } from '../../../src/lab/config/arguments.js';
import { loadModel } from '../../../src/lab/hugging-face/directory.js';
import { loadTokenizer } from '../../../src/lab/hugging-face/tokenizer.js';
import { evalKeys, evaluate } from '../../../src/lab/evaluation/evaluate.js';
import { describeModel, exportModel } from '../../../src/lab/hugging-face/export-model.js';
import { copyOf, fixtures } from './fixtures.js';
import { tempDirectory } from '../temp-directory.js';
import { rowsIn, testWorld, trainIn } from '../algorithms/run-in-test.js';

/** Lines of the description without the path. */
function lines(path: string): string[] {
  return describeModel(path).text.replaceAll(path, 'PATH').trimEnd().split('\n');
}

/** A run of one step, with its checkpoint. */
async function finishedRun(...argv: string[]): Promise<string> {
  const run = tempDirectory();
  await trainIn(run, ['N=16', 'n_batches=1', 'test_n_batches=1', 'max_tokens=3', ...argv]);
  return run;
}

const evalOf = (path: string) =>
  evaluate(
    readArguments(evalKeys, [`load_checkpoint_path=${path}`, 'N=16', 'episodes=8', 'max_tokens=3']).config,
    testWorld(),
  );

describe('the description of a model by memrl', () => {
  it('lists its shape, weights, tokenizer and uses', () => {
    const directory = copyOf('grouped-tied');
    cpSync(join(fixtures, 'tokenizers/word-level/tokenizer.json'), join(directory, 'tokenizer.json'));
    expect(lines(directory)).toEqual([
      'PATH: LlamaForCausalLM (Hugging Face)',
      '',
      'shape         2 layers, width 16, 2 heads on 1 of keys and values, feed-forward 44, vocabulary 48, tied head',
      'context       64 tokens, RoPE base 10,000, norm epsilon 0.000001',
      'parameters    6,608; stored as F32: 26 KiB in 1 file',
      "tokenizer     WordLevel, 60 of the model's 48 tokens, no end-of-text token",
      'memory games  not for them: its vocabulary is another (memrl warmup makes a model that can play)',
      'cannot open   the tokenizer has 60 tokens, and the model knows 48',
    ]);
    expect(lines(join(fixtures, 'plain-untied-sharded')).slice(-4)).toEqual([
      'parameters    11,688; stored as BF16: 23 KiB in 7 files',
      'tokenizer     none',
      'memory games  not for them: it has no tokenizer (memrl warmup makes a model that can play)',
      'opens         yes',
    ]);
  });

  it('includes the biases of Qwen2 and the scaling of RoPE', () => {
    const qwen = lines(join(fixtures, 'qwen2'));
    expect(qwen[0]).toBe('PATH: Qwen2ForCausalLM (Hugging Face)');
    expect(qwen[2]).toMatch(/4 heads on 2 of keys and values, .*, tied head, biases of queries, keys and values$/);
    expect(qwen.at(-1)).toBe('opens         yes');
    expect(lines(join(fixtures, 'llama-3-rope'))[3]).toBe(
      'context       64 tokens, RoPE base 5,000 scaled by 8, norm epsilon 0.00001',
    );
  });

  it('names every problem that keeps the model from being opened', () => {
    const directory = copyOf('grouped-tied');
    const config = JSON.parse(readFileSync(join(directory, 'config.json'), 'utf8')) as object;
    writeFileSync(join(directory, 'config.json'), JSON.stringify({ ...config, hidden_act: 'gelu', mlp_bias: true }));
    writeFileSync(join(directory, 'tokenizer.json'), '{');
    expect(describeModel(directory).opens).toBe(false);
    expect(lines(directory).slice(-3)).toEqual([
      'cannot open   `hidden_act` is gelu, not silu',
      '              `mlp_bias` is true: the projections of the MLP have no bias here',
      '              PATH/tokenizer.json cannot be used: it is not JSON',
    ]);
  });

  it('works for a run of memrl, too', async () => {
    const run = await finishedRun();
    expect(lines(run)[0]).toBe('PATH/checkpoints/final: a checkpoint of memrl with its optimizer');
    expect(lines(run).slice(-3)).toEqual([
      'tokenizer     memory, 21 of the model\'s 32 tokens, "\\n\\n" (1) ends a text',
      'memory games  train, sft, warmup and eval can use it',
      'opens         yes',
    ]);
  });

  it('fails when there is no model', () => {
    expect(() => describeModel(tempDirectory())).toThrow(/no checkpoint in/);
  });
});

describe('a model written for transformers', () => {
  it('from memrl loads as the same model, with its vocabulary', async () => {
    const run = await finishedRun();
    const target = join(tempDirectory(), 'exported');
    await exportModel(run, target);
    expect(readdirSync(target).sort()).toEqual([
      'config.json',
      'model.safetensors',
      'tokenizer.json',
      'tokenizer_config.json',
    ]);
    expect(loadModel(target).config).toMatchObject({ beginning: 0, endings: [1] });
    expect(await evalOf(target)).toEqual(await evalOf(run));
    // As initial weights, under both keys that name a model.
    const rows = [];
    for (const key of ['load_checkpoint_path', 'model_name']) rows.push(rowsIn(await finishedRun(`${key}=${target}`)));
    expect(rows[0]).toEqual(rowsIn(await finishedRun(`load_checkpoint_path=${run}`)));
    expect(rows[1]).toEqual(rows[0]);
  });

  it('from Hugging Face keeps its tokenizer, in one file of single precision', async () => {
    const directory = copyOf('plain-untied-sharded');
    cpSync(join(fixtures, 'tokenizers/bert/tokenizer.json'), join(directory, 'tokenizer.json'));
    writeFileSync(join(directory, 'tokenizer_config.json'), '{"eos_token":"[SEP]"}');
    const target = tempDirectory();
    await exportModel(directory, target);
    expect(loadModel(target)).toEqual(loadModel(directory));
    expect(loadTokenizer(target)!.end).toBe(2);
    expect(readdirSync(target)).not.toContain('model.safetensors.index.json');
  });

  it('is refused in a folder that is not empty: a run has a config.json too', async () => {
    const run = await finishedRun();
    const before = '{"N":16}';
    writeFileSync(join(run, 'config.json'), before);
    await expect(exportModel(run, run)).rejects.toThrow(/is not empty/);
    expect(readFileSync(join(run, 'config.json'), 'utf8')).toBe(before);
  });
});

describe('a recipe of the memory games', () => {
  it.each([
    { what: 'has no tokenizer', tokenizer: null, says: /has no tokenizer\.json/ },
    {
      what: 'has another vocabulary',
      tokenizer: 'word-level',
      says: /needs the memory vocabulary, .* \(WordLevel, 60 tokens\)/,
    },
  ])('refuses a model that $what', async ({ tokenizer, says }) => {
    const directory = copyOf('grouped-tied');
    if (tokenizer !== null)
      cpSync(join(fixtures, 'tokenizers', tokenizer, 'tokenizer.json'), join(directory, 'tokenizer.json'));
    for (const key of ['load_checkpoint_path', 'model_name']) {
      const started = trainIn(tempDirectory(), [`${key}=${directory}`]);
      await expect(started).rejects.toThrow(UserError);
      await expect(started).rejects.toThrow(says);
    }
  });

  it('uses the tiny shape for a name that is neither a preset nor a directory, with a note', async () => {
    const world = testWorld();
    await trainIn(
      tempDirectory(),
      ['model_name=meta-llama/Llama-3.2-1B', 'N=16', 'n_batches=0', 'test_n_batches=1'],
      world,
    );
    expect(world.lines.join('\n')).toMatch(
      /model_name=meta-llama\/Llama-3\.2-1B is not a model here: `tiny` is used instead/,
    );
  });
});
