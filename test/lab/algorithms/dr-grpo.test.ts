import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { drGrpo, isKept, ratioStatistics } from '../../../src/lab/algorithms/dr-grpo.js';
import { drGrpoKeys } from '../../../src/lab/algorithms/dr-grpo-settings.js';
import { sft, sftKeys } from '../../../src/lab/algorithms/sft.js';
import { readArguments } from '../../../src/lab/config/arguments.js';
import { openRunDirectory } from '../../../src/lab/run/run-directory.js';
import { openRun } from '../../../src/lab/run/runner.js';
import { removeFolder } from '../../remove-folder.js';
import { maxDifference } from '../engine/models.js';
import { readModel } from '../../../src/lab/run/model-files.js';
import { rowsIn, testWorld } from './run-in-test.js';

const root = mkdtempSync(join(tmpdir(), 'memrl-dr-grpo-'));
const model = join(root, 'model');
const sums = ['environment=arithmetic', 'environment_params={max: 3, include_fewshot: false}'];
afterAll(() => removeFolder(root));

beforeAll(async () => {
  const few = ['model_name=micro', 'num_examples=64', 'batch_size=16', 'num_epochs=10', 'learning_rate=0.01'];
  const { config } = readArguments(sftKeys, [...sums, ...few, 'load_checkpoint_path=none', 'eval_n_batches=0']);
  await sft(config, '', openRun(openRunDirectory(model), testWorld()));
});

async function drGrpoIn(name: string, argv: readonly string[] = [], world = testWorld()) {
  const path = join(root, name);
  const small = ['buffer_size=6', 'microbatch_size=2', 'rollout_batch_size=4', 'max_rounds=4', 'eval_groups=0'];
  const fixed = [`model_name=${model}`, 'num_tasks=16', 'temperature=1', 'num_groups_to_log=0', 'total_steps=6'];
  const { config } = readArguments(drGrpoKeys, [...sums, ...small, ...fixed, 'lr=0.003', ...argv]);
  await drGrpo(config, openRun(openRunDirectory(path), world));
  return path;
}

const final = (path: string) => join(path, 'checkpoints', 'final');

describe('Dr. GRPO', () => {
  it('keeps only groups whose rewards differ enough', () => {
    const rule = { reward_var_thresh: 0.01, reject_all_zero: true, reject_all_max: true };
    expect([isKept([1, 0, 0], rule), isKept([0, 0], rule), isKept([1, 1], rule)]).toEqual([true, false, false]);
    const lenient = { reward_var_thresh: 0, reject_all_zero: true, reject_all_max: false };
    expect([isKept([0, 0], lenient), isKept([1, 1], lenient)]).toEqual([false, true]);
    expect(isKept([0.5, 0.6], rule)).toBe(false);
  });

  it('reports maximum, median and outliers of the ratios', () => {
    const row = ratioStatistics([0, 0, Math.log(2), -9]);
    expect(row['ratio_max']).toBeCloseTo(2, 12);
    expect(row['ratio_median']).toBeCloseTo(1, 12);
    expect(row['ratio_outlier_frac']).toBe(0.25);
    expect(ratioStatistics([])).toEqual({});
  });

  it('gives the same weights, rows, curriculum and noise scale when it is interrupted and resumed', async () => {
    const measured = ['probes=gns,entropy,fisher', 'entropy_answers=32', 'fisher_answers=16', 'save_every=4', 'gns_prompts=8']; // prettier-ignore
    const asked = [...measured, 'ema_alpha=0.4', 'save_ratios=True', 'save_rollouts_every=2'];
    const whole = await drGrpoIn('whole', asked);
    await drGrpoIn('stopped', asked, testWorld(3));
    const stopped = await drGrpoIn('stopped', asked);
    for (const file of ['metrics.jsonl', 'logs/ratios.jsonl', 'logs/rollouts.jsonl'])
      expect(readFileSync(join(stopped, file), 'utf8')).toBe(readFileSync(join(whole, file), 'utf8'));
    for (const file of ['model.safetensors', 'state.json']) {
      expect(readFileSync(join(final(stopped), file)).equals(readFileSync(join(final(whole), file)))).toBe(true);
    }
    const rows = rowsIn(whole);
    expect(rows.some((row) => row['curriculum/easy']! > 0 || row['curriculum/hard']! > 0)).toBe(true);
    for (const terms of ['gns', 'gns_two_sizes'])
      expect(rows.some((row) => Number.isFinite(row[`${terms}_tr_sigma`]))).toBe(true);
    rows.slice(0, -1).forEach((row) => expect(row['ratio_mean']).toBe(1));
    // Of six prompts with eight answers each, whose longest ones have one token to four.
    for (const { gns_ess: ess } of rows.filter((row) => row['gns_tr_sigma'] !== undefined))
      expect(ess).toSatisfy((answers: number) => answers > 12 && answers < 48.001);
    expect(rows.some((row) => row['gns_loss_error']! > 0)).toBe(true);
    const measuredRow = rows.find((row) => Number.isFinite(row['fisher/other_prompt']))!;
    for (const name of ['fisher/same_prompt', 'fisher/other_prompt'])
      expect(Math.abs(measuredRow[name]!)).toBeLessThanOrEqual(1);
    expect(measuredRow['entropy/ess']).toBeGreaterThanOrEqual(1);
    const lines = readFileSync(join(whole, 'logs/ratios.jsonl'), 'utf8').trim().split('\n');
    expect(JSON.parse(lines[0]!)).toMatchObject({ step: 0, ratios: expect.arrayContaining([1]) as unknown });
  });

  it('gives the same bits with any number of threads', async () => {
    const run = async (threads: number) => {
      const path = await drGrpoIn(`threads-${threads}`, ['engine=wasm', `threads=${threads}`, 'total_steps=2', 'probes=gns']); // prettier-ignore
      return readFileSync(join(final(path), 'model.safetensors')).toString('base64') + readFileSync(join(path, 'metrics.jsonl'), 'utf8'); // prettier-ignore
    };
    const one = await run(1);
    for (const threads of [2, 4]) expect(await run(threads)).toBe(one);
  });

  it('is not changed by the noise-scale probe of two batch sizes', async () => {
    const [plain, probed] = [await drGrpoIn('unprobed', ['total_steps=2']), await drGrpoIn('two-sizes', ['total_steps=2', 'probes=gns', 'gns_prompts=8'])]; // prettier-ignore
    expect(maxDifference(readModel(final(plain)).weights, readModel(final(probed)).weights)).toBe(0);
    const [row] = rowsIn(probed);
    // Prompts of the same policy: terms of the same size, from other answers.
    expect(row!['gns_two_sizes_tr_sigma']! / row!['gns_tr_sigma']!).toBeGreaterThan(0.1);
    expect(row!['gns_two_sizes_tr_sigma']! / row!['gns_tr_sigma']!).toBeLessThan(10);
    expect(row!['gns_two_sizes_tr_sigma']).not.toBe(row!['gns_tr_sigma']);
  });

  it('is not changed by the entropy probe, which predicts the entropy change of a small step', async () => {
    const small = ['lr=1e-4', 'total_steps=1', 'buffer_size=2', 'microbatch_size=1', 'weight_decay=0'];
    const [plain, probed] = [await drGrpoIn('plain', small), await drGrpoIn('probed', [...small, 'probes=[entropy]', 'entropy_answers=512'])]; // prettier-ignore
    expect(maxDifference(readModel(final(plain)).weights, readModel(final(probed)).weights)).toBe(0);
    const { 'entropy/change': change, 'entropy/predicted': predicted } = rowsIn(probed)[0]!;
    expect(Math.abs(change! / predicted! - 1)).toBeLessThan(0.3);
    await expect(drGrpoIn('odd-probe', ['probes=gsn'])).rejects.toThrow('probes=gsn is not a value of this key');
  });

  it('takes the same step for any number of microbatches', async () => {
    const paths = [];
    for (const size of [6, 2]) paths.push(await drGrpoIn(`cut-${size}`, [`microbatch_size=${size}`, 'total_steps=1']));
    const [one, three] = paths.map((path) => readModel(final(path)).weights);
    expect(maxDifference(one!, readModel(join(model, 'checkpoints', 'final')).weights)).toBeGreaterThan(1e-4);
    expect(maxDifference(one!, three!)).toBeLessThan(1e-5);
  });

  it('trains several epochs on a buffer, with ratios other than 1', async () => {
    const rows = rowsIn(await drGrpoIn('epochs', ['ppo_epochs=3', 'clip_+=0.3', 'kl_beta=0.01']));
    expect(rows.map((row) => row['optim/updates'])).toEqual([0, 3, 6]);
    expect(rows[0]!['ratio_max']).toBeGreaterThan(1);
    expect(rows[0]!['kl']).toBeDefined();
  });

  it.each(['k1', 'k2', 'k3'])('stays near the initial model under a strong KL term by %s', async (estimator) => {
    const argv = ['total_steps=12', `kl_estimator=${estimator}`, 'reward_var_thresh=0', 'reject_all_zero=False', 'reject_all_max=False']; // prettier-ignore
    const kl = async (beta: number) => rowsIn(await drGrpoIn(`kl-${estimator}-${beta}`, [...argv, `kl_beta=${beta}`])).at(-2)!['kl']!; // prettier-ignore
    expect(await kl(2)).toBeLessThan(0.5 * (await kl(1e-9)));
  });

  it('skips the update when a step keeps no group, and continues', async () => {
    const path = await drGrpoIn('none', ['reward_var_thresh=9', 'total_steps=2']);
    expect(rowsIn(path).map((row) => row['collect/kept'])).toEqual([0, 0, undefined]);
    expect(maxDifference(readModel(final(path)).weights, readModel(join(model, 'checkpoints', 'final')).weights)).toBe(
      0,
    );
  });

  it('refuses sizes that do not match', async () => {
    await expect(drGrpoIn('odd', ['microbatch_size=4'])).rejects.toThrow('not a multiple of microbatch_size=4');
    await expect(drGrpoIn('levels', ['boundaries=0.5'])).rejects.toThrow('three levels');
  });
});
