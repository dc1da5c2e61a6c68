import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { UserError } from '../../../src/base/user-error.js';
import { readArguments } from '../../../src/lab/config/arguments.js';
import { parameterCount } from '../../../src/lab/engine/layout.js';
import { presets } from '../../../src/lab/engine/model-shape.js';
import { loadModel } from '../../../src/lab/hugging-face/directory.js';
import { loadTokenizer } from '../../../src/lab/hugging-face/tokenizer.js';
import { describeModel, exportModel } from '../../../src/lab/hugging-face/export-model.js';
import { learningRateAt, pretrainKeys } from '../../../src/lab/algorithms/pretrain.js';
import { findModel, readModel } from '../../../src/lab/run/model-files.js';
import { story } from '../../../src/lab/environments/stories/corpus.js';
import { fixtures } from '../hugging-face/fixtures.js';
import { tempDirectory } from '../temp-directory.js';
import { pretrainIn, resultsIn, rowsIn, testWorld } from './run-in-test.js';

describe('memrl pretrain', () => {
  it('beats a unigram model on the stories of the grammar', async () => {
    const path = tempDirectory();
    const world = testWorld();
    const argv = ['n_batches=60', 'warmup_steps=5', 'learning_rate=0.02', 'samples=2', 'eval_every=30'];
    await pretrainIn(path, argv, world);
    const rows = rowsIn(path).filter((row) => 'test/nll' in row);
    expect(rows.map(({ step }) => step)).toEqual([0, 30, 60]);
    // Before anything is learnt, all tokens are equally likely.
    expect(rows[0]!['test/nll']).toBeCloseTo(Math.log(300), 1);
    expect(rows[2]!['test/nll']).toBeLessThan(rows[1]!['test/nll']!);
    expect(rows[2]!['test/nll']).toBeLessThan(unigramNll(path));
    expect(rows[2]!['test/perplexity']).toBe(Math.exp(rows[2]!['test/nll']!));
    expect(world.lines.filter((line) => line.startsWith('sample: '))).toHaveLength(2);
  });

  it('interrupted and resumed, ends with the same files, on the grammar and on several epochs of a file', async () => {
    const file = join(tempDirectory(), 'stories.txt');
    writeFileSync(file, Array.from({ length: 12 }, (_, index) => story(0, 'train', index)).join('\n'));
    for (const data of ['None', file]) {
      const argv = [`data=${data}`, 'n_batches=8', 'log_every=3', 'eval_every=0', 'save_every=3', 'warmup_steps=4'];
      const [straight, broken] = [tempDirectory(), tempDirectory()];
      await pretrainIn(straight, argv);
      await pretrainIn(broken, argv, testWorld(4));
      // A crash after the checkpoint: what came after it is not there any more.
      await pretrainIn(broken, argv, testWorld(2));
      rmSync(join(broken, 'checkpoints/000006'), { recursive: true });
      await pretrainIn(broken, argv);
      expect(resultsIn(broken)).toEqual(resultsIn(straight));
    }
  });

  it('refuses to resume with other stories', async () => {
    const file = join(tempDirectory(), 'stories.txt');
    const texts = Array.from({ length: 12 }, (_, index) => story(0, 'train', index));
    writeFileSync(file, texts.join('\n'));
    const [path, argv] = [tempDirectory(), [`data=${file}`, 'n_batches=3', 'eval_every=0']];
    await pretrainIn(path, argv, testWorld(2));
    writeFileSync(file, texts.slice(1).join('\n'));
    await expect(pretrainIn(path, argv)).rejects.toThrow(/have changed since this run began: \d+ bytes then, \d+ now/);
  });

  it('writes a model that transformers and GRPO can load', async () => {
    const path = tempDirectory();
    await pretrainIn(path, ['n_batches=2', 'save_every=1', 'eval_every=0']);
    for (const name of ['000001', 'final']) {
      const directory = join(path, 'checkpoints', name);
      expect(readdirSync(directory).sort()).toEqual([
        ...['config.json', 'generation_config.json', 'model.json', 'model.safetensors', 'state.json'],
        ...['tokenizer.json', 'tokenizer_config.json'],
      ]);
      expect(loadTokenizer(directory)).toMatchObject({ kind: 'WordPiece', size: 300, end: 1 });
      expect(readModel(directory).optimizer).not.toBeNull();
    }
    expect(describeModel(path).text).toMatch(/tokenizer +WordPiece, 300 tokens, "\[EOS\]" \(1\) ends a text/);
    const target = join(tempDirectory(), 'exported');
    await exportModel(path, target);
    expect(loadModel(target).config).toMatchObject({ beginning: null, endings: [1], shape: { vocabulary: 300 } });
    // Trained on, with its own tokenizer.
    const more = tempDirectory();
    await pretrainIn(more, [`model_name=${target}`, 'n_batches=1', 'eval_every=0']);
    expect(loadTokenizer(findModel(more))!.size).toBe(300);
  });

  it('uses the tokenizer of a given directory', async () => {
    const folder = tempDirectory();
    writeFileSync(join(folder, 'tokenizer.json'), readFileSync(join(fixtures, 'tokenizers/word-piece/tokenizer.json')));
    const argv = [`tokenizer=${folder}`, 'n_batches=1', 'eval_every=0'];
    await expect(pretrainIn(tempDirectory(), argv)).rejects.toThrow(/does not say which token ends a text/);
    writeFileSync(join(folder, 'tokenizer_config.json'), '{"eos_token":"[EOS]"}');
    const path = tempDirectory();
    await pretrainIn(path, argv);
    expect(readModel(findModel(path)).shape.vocabulary).toBe(170);
  });

  it('refuses unusable settings with a reason', async () => {
    await expect(pretrainIn(tempDirectory(), ['model_name=large'])).rejects.toThrow(/neither a known shape nor/);
    await expect(pretrainIn(tempDirectory(), ['vocabulary_size=50'])).rejects.toThrow(/has no room/);
    await expect(pretrainIn(tempDirectory(), [`tokenizer=${tempDirectory()}`])).rejects.toThrow(
      /no tokenizer\.json in/,
    );
    await expect(pretrainIn(tempDirectory(), ['data=/nowhere.txt'])).rejects.toThrow(UserError);
    const folder = tempDirectory();
    mkdirSync(join(folder, 'a'));
    writeFileSync(join(folder, 'a/train.txt'), 'One story.\nTwo stories.\n');
    const argv = [`data=${join(folder, 'a')}`, 'n_batches=1'];
    await expect(pretrainIn(tempDirectory(), argv)).rejects.toThrow(/no test\.jsonl and no test\.txt/);
  });

  it('reports that a finished run has nothing left to do', async () => {
    const path = tempDirectory();
    await pretrainIn(path, ['n_batches=1', 'eval_every=0']);
    const world = testWorld();
    expect(await pretrainIn(path, ['n_batches=1', 'eval_every=0'], world)).toEqual({ kind: 'finished' });
    expect(world.lines).toEqual(['already complete: 1 steps are done. A larger n_batches continues.']);
  });
});

it('the learning rate of pretraining rises linearly, and falls as a cosine to its final share', () => {
  const config = readArguments(pretrainKeys, ['n_batches=110', 'warmup_steps=10', 'learning_rate=1']).config;
  const at = (step: number) => learningRateAt(config, step);
  expect([at(0), at(4), at(9), at(10)]).toEqual([0.1, 0.5, 1, 1]);
  expect(at(60)).toBeCloseTo(0.55, 12);
  expect(at(110)).toBeCloseTo(0.1, 12);
});

it('the SimpleStories preset has as many parameters as the published model', () => {
  expect(parameterCount(presets['simplestories-1.25M'])).toBe(1_245_824);
});

/** Of the test stories under the frequencies of the tokens in the first training stories, in nats per token. */
function unigramNll(path: string): number {
  const tokenizer = loadTokenizer(findModel(path))!;
  const counts = new Float64Array(tokenizer.size).fill(1);
  for (let index = 0; index < 300; index++) {
    for (const id of [...tokenizer.encode(story(42, 'train', index)), 1]) counts[id]!++;
  }
  const total = counts.reduce((sum, count) => sum + count, 0);
  let [nll, tokens] = [0, 0];
  for (let index = 0; index < 8; index++) {
    for (const id of [...tokenizer.encode(story(42, 'test', index)), 1].slice(1)) {
      nll -= Math.log(counts[id]! / total);
      tokens++;
    }
  }
  return nll / tokens;
}
