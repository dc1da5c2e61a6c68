import { existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { rl } from '../../../../src/lab/algorithms/rl.js';
import { rlKeys } from '../../../../src/lab/algorithms/rl-settings.js';
import { readArguments } from '../../../../src/lab/config/arguments.js';
import { evalBatch, evalBatchLines } from '../../../../src/lab/evaluation/eval-batch/eval-batch.js';
import { evalBatchKeys } from '../../../../src/lab/evaluation/eval-batch/keys.js';
import { measuresOf, passAt } from '../../../../src/lab/evaluation/eval-batch/measures.js';
import { keepConfig, openRunDirectory } from '../../../../src/lab/run/run-directory.js';
import { openRun } from '../../../../src/lab/run/runner.js';
import { removeFolder } from '../../../remove-folder.js';
import { testWorld } from '../../algorithms/run-in-test.js';

const root = mkdtempSync(join(tmpdir(), 'memrl-eval-batch-'));
const run = join(root, 'run');
afterAll(() => removeFolder(root));

beforeAll(async () => {
  const { config } = readArguments(rlKeys, [
    ...['model_name=micro', 'environment=word_problems', 'environment_params={max: 3, steps: 1}', 'lora_rank=0'],
    ...['groups_per_batch=2', 'group_size=2', 'n_batches=3', 'max_tokens=4', 'save_every=1', 'eval_every=0'],
  ]);
  const directory = openRunDirectory(run);
  keepConfig(directory, config, new Set());
  await rl(config, openRun(directory, testWorld()));
});

async function evaluate(name: string, argv: readonly string[] = [], world = testWorld()) {
  const logPath = join(root, name);
  const few = ['num_prompts=3', 'num_return_sequences=2', `log_path=${logPath}`];
  const { config } = readArguments(evalBatchKeys, [`path=${run}`, ...few, ...argv]);
  const found = await evalBatch(config, world);
  return { found, csv: () => readFileSync(join(logPath, 'consolidated_metrics.csv'), 'utf8'), path: logPath };
}

describe('the measures of answers', () => {
  it('have pass@k of the first k answers, and the unbiased estimate', () => {
    const judged = [false, true, false, false].map((isCorrect, at) => ({ isCorrect, isFormed: at < 2, thought: at }));
    const scores = judged.map(() => ({ logprobs: [-1, -3], entropies: [0.5, NaN] }));
    const row = measuresOf(judged, scores.map(({ logprobs, entropies }) => ({ logprobs: Float64Array.from(logprobs), entropies: Float64Array.from(entropies) }))); // prettier-ignore
    expect(row).toMatchObject({
      'pass@1': 0,
      'pass@2': 1,
      'pass@4': 1,
      pass_rate: 0.25,
      tag_ok_ave: 0.5,
      tag_ok_any: 1,
    });
    expect([row['pass@1_unbiased'], row['pass@2_unbiased'], row['pass@4_unbiased']]).toEqual([0.25, 0.5, 1]);
    expect(row).not.toHaveProperty('pass@8');
    expect([row['len_min'], row['len_max'], row['len_mean'], row['len_std']]).toEqual([0, 3, 1.5, Math.sqrt(1.25)]);
    expect([row['surp_mean'], row['surp_std'], row['surp_max'], row['ent_mean'], row['ent_p95']]).toEqual([2, 1, 3, 0.5, 0.5]); // prettier-ignore
  });

  it('average pass@k over all subsets of k answers', () => {
    // Of 5 answers of which 2 are right, 3 of the 10 pairs have no right one.
    expect(passAt(2, { right: 2, all: 5 })).toBeCloseTo(0.7, 12);
    expect([passAt(4, { right: 2, all: 5 }), passAt(3, { right: 0, all: 5 })]).toEqual([1, 0]);
  });
});

describe('memrl eval-batch', () => {
  it('puts all checkpoints into one table, and evaluates only missing ones', async () => {
    const whole = await evaluate('whole');
    const lines = whole.csv().trimEnd().split('\n');
    expect(lines[0]).toMatch(/^step,eval_dir,q_idx,tag_ok_ave,tag_ok_any,pass_rate,pass@1,pass@2,/);
    expect(lines.slice(1).map((line) => line.split(',').slice(0, 3).join())).toEqual(
      [1, 2, 3].flatMap((step) => [0, 1, 2].map((index) => `${step},step_00000${step},${index}`)),
    );
    const record = join(whole.path, 'step_000002', 'records.jsonl.gz');
    const records = gunzipSync(readFileSync(record)).toString().trimEnd().split('\n');
    const { generations, entropies } = JSON.parse(records[1]!) as Record<'generations' | 'entropies', unknown[][]>;
    expect([records.length, generations.length, entropies[0]!.length > 0]).toEqual([3, 2, true]);

    // Stopped after one step, with the half of a step that a crash left.
    await evaluate('parts', [], testWorld(1));
    const parts = await evaluate('parts', ['steps=3']);
    expect(existsSync(join(parts.path, 'step_000002'))).toBe(false);
    mkdirSync(join(parts.path, 'step_000002.new'));
    const kept = join(parts.path, 'step_000003', 'run_meta.json');
    writeFileSync(kept, readFileSync(kept, 'utf8').replace(/"pass@1": [\d.]+/, '"pass@1": 77'));
    const { found } = await evaluate('parts');
    expect(parts.csv()).toBe(whole.csv());
    if (typeof found === 'string') throw new Error(found);
    expect(found.rows.map((row) => row['step'])).toEqual([1, 2, 3]);
    // The third step was not evaluated again.
    expect(found.rows[2]!['pass@1']).toBe(77);
    expect(evalBatchLines(found.rows, 100)[0]).toContain('pass@1_unbiased');
  });

  it('evaluates again when the settings have changed', async () => {
    await evaluate('other', ['steps=1']);
    const other = await evaluate('other', ['steps=1', 'num_prompts=2']);
    expect(other.csv().trimEnd().split('\n')).toHaveLength(3);
  });

  it('names a missing run, environment or checkpoint', async () => {
    await expect(evaluate('none', ['steps=1,9'])).rejects.toThrow('no checkpoint of step 9');
    const { config } = readArguments(evalBatchKeys, [`path=${join(root, 'nothing')}`]);
    await expect(evalBatch(config, testWorld())).rejects.toThrow('does not record its environment');
  });
});
