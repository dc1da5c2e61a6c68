/** Commands of the source systems' pages, typed as they stand there: what is asked is what a reader was promised, that something is learnt. */
import { existsSync, mkdtempSync, readFileSync, truncateSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { removeFolder } from '../remove-folder.js';
import { findModel, readMerged } from '../../src/lab/run/model-files.js';
import { bundledProgram, memrl } from './program.js';
import { typedLine } from './typed-pages.js';

const root = mkdtempSync(join(tmpdir(), 'memrl-typed-'));

/** Runs a line to its end. @returns what it said, and the directory of its run. */
async function typed(page: string, beginning: string) {
  const { code, stdout, stderr } = await memrl(typedLine(page, beginning));
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return { stdout, run: /^log: (.*)$/m.exec(stdout)?.[1] ?? '' };
}

function lastRow(run: string): Record<string, unknown> {
  return JSON.parse(readFileSync(join(run, 'metrics.jsonl'), 'utf8').trimEnd().split('\n').at(-1)!) as Record<
    string,
    unknown
  >;
}

beforeAll(() => {
  vi.stubEnv('TMPDIR', root);
  vi.stubEnv('XDG_CACHE_HOME', join(root, 'cache'));
});
afterAll(() => {
  vi.unstubAllEnvs();
  removeFolder(root);
});

describe('memory-rl, typed as it stands', () => {
  it.each([
    ['right or wrong', 'python train.py env_type=single_step N=64 reward_type=binary', 'SINGLE_STEP'],
    ['eight levels', 'python train.py env_type=single_step N=64 reward_type=binned', 'SINGLE_STEP'],
  ])('knows the secret at the end: %s', async (_, line, warmup) => {
    const { stdout, run } = await typed('memory-rl', line);
    expect(stdout).toContain(`weights from ${warmup} (101184 parameters`);
    expect(lastRow(run)['test/bits/answer_raw']).toBeGreaterThan(5);
  });

  it('knows the secret at the end: a judgement of each bit', { tags: ['long'] }, async () => {
    const { stdout, run } = await typed('memory-rl', 'python train.py env_type=multi_step');
    expect(stdout).toContain('weights from MULTI_STEP (101184 parameters');
    expect(lastRow(run)['test/bits/answer_raw']).toBeGreaterThan(5);
  });

  it('knows all bits of a secret that it was shown', async () => {
    await typed('memory-rl', 'python sft_data_gen.py');
    const { run } = await typed('memory-rl', 'python sft_train.py');
    expect(lastRow(run)['test/bits/answer_raw']).toBeGreaterThan(5.9);
  });
});

describe('the warm-ups that come with memrl', () => {
  it.each([
    ['single_step', 'SINGLE_STEP'],
    ['multi_step', 'MULTI_STEP'],
  ])('are what `memrl warmup` makes: %s', { tags: ['long'] }, async (game, name) => {
    const made = join(root, name);
    expect((await memrl(['warmup', `env_type=${game}`, 'engine=wasm', `log_path=${made}`])).code).toBe(0);
    const [shipped, fresh] = await Promise.all([name, made].map((path) => readMerged(findModel(path))));
    expect(shipped!.shape).toEqual(fresh!.shape);
    expect(Buffer.from(shipped!.weights.buffer).equals(Buffer.from(fresh!.weights.buffer))).toBe(true);
  });

  it('are models like any other, by their names', async () => {
    expect((await memrl(['model', 'MULTI_STEP'])).stdout).toContain('101,184');
    const { code, stdout } = await memrl(['eval', 'load_checkpoint_path=SINGLE_STEP', 'N=64', 'episodes=8']);
    expect([code, Math.abs(Number((JSON.parse(stdout) as Record<string, number>)['test/bits/answer_raw'])) < 0.2]).toEqual([0, true]); // prettier-ignore
  });

  it('are left out where weights are random, of a checkpoint, or of another environment', async () => {
    for (const words of [['load_checkpoint_path=none'], ['environment=arithmetic']]) {
      const { code, stdout } = await memrl(['train', 'n_batches=1', 'test_n_batches=1', ...words]);
      expect([code, stdout]).toEqual([0, expect.stringContaining('weights from nothing')]);
      const [, run] = /^log: (.*)$/m.exec(stdout)!;
      const config = JSON.parse(readFileSync(join(run!, 'config.json'), 'utf8')) as unknown;
      expect(config).toMatchObject({ load_checkpoint_path: null, learning_rate: 4e-5 });
    }
  });

  it('of another model is made once, by two at once, and again when it is damaged', { tags: ['long'] }, async () => {
    const { run } = await bundledProgram();
    const line = ['train', 'model_name=micro', 'N=8', 'n_batches=1', 'test_n_batches=1', 'engine=wasm'];
    const both = await Promise.all(['a', 'b'].map((name) => run([...line, `log_path=${join(root, name)}`])));
    expect(both.map(({ code }) => code)).toEqual([0, 0]);
    expect(both.filter(({ stdout }) => stdout.includes('is made once'))).toHaveLength(1);
    const place = join(root, 'cache/memrl/warmups/SINGLE_STEP-micro-N8-decimal');
    expect(existsSync(place)).toBe(true);
    truncateSync(join(place, 'checkpoints/final/model.safetensors'), 100);
    const [again, kept] = [await run([...line, `log_path=${join(root, 'c')}`]), await run([...line, `log_path=${join(root, 'd')}`])]; // prettier-ignore
    expect([again, kept].map(({ code, stdout }) => [code, stdout.includes('is made once')])).toEqual([[0, true], [0, false]]); // prettier-ignore
  });
});
