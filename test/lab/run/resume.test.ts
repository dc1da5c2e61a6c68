import { cpSync, existsSync, mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { removeFolder } from '../../remove-folder.js';
import { storyModel } from '../algorithms/story-model.js';
import { memrl } from '../program.js';

const root = mkdtempSync(join(tmpdir(), 'memrl-resume-'));
const at = (...names: string[]) => join(root, ...names);

/** Of `memrl train` on a secret; a checkpoint every two steps. */
const line = (path: string, steps: number) => [
  ...['train', 'model_name=micro', 'load_checkpoint_path=none', 'N=16', 'batch_size=2', 'save_every=2', 'eval_every=3', 'test_n_batches=1'],
  ...['entropy_coef=0.1', 'learning_rate=0.01'],
  ...['engine=wasm', `n_batches=${steps}`, `log_path=${at(path)}`],
]; // prettier-ignore

const sums = ['environment=arithmetic', 'environment_params={max: 3, include_fewshot: false}'];
/** Six steps, with a checkpoint every two; the learning rate falls. */
const sftLine = ['sft', ...sums, 'num_examples=48', 'batch_size=8', 'save_every=2', 'eval_n_batches=0'];
const drGrpoLine = [
  ...['dr-grpo', ...sums, 'model_name=micro', 'buffer_size=2', 'microbatch_size=1', 'rollout_batch_size=2', 'lr=0.01'],
  ...['max_rounds=1', 'num_tasks=8', 'reward_var_thresh=0', 'reject_all_zero=False', 'total_steps=6', 'save_every=2'],
  ...['eval_groups=0', 'probes=gns', 'save_ratios=True'],
];
const grpoLine = [
  ...['grpo', 'num_prompts=40', 'prompt_length=4', 'max_completion_length=6', 'batch_size=4', 'num_generations=2'],
  ...['max_steps=6', 'lr=0.01', 'logging_steps=1', 'save_steps=2', 'eval_routing_steps=0'],
];

async function ran(argv: readonly string[]): Promise<void> {
  const { code, stderr } = await memrl([...argv]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
}

const bytes = (run: string, file: string) => readFileSync(at(run, file));
/** Without the share that is done, which rows have of the length that the run then had. */
const rows = (run: string) => bytes(run, 'metrics.jsonl').toString().replaceAll(/"progress\/done_frac":[^,]*,/g, '').split('\n'); // prettier-ignore
const final = join('checkpoints', 'final', 'model.safetensors');

beforeAll(async () => {
  await ran(line('whole', 9));
  await ran(line('short', 6));
});
afterAll(() => removeFolder(root));

describe('memrl resume', () => {
  it.each([
    { from: 'latest', more: 3 },
    { from: 'final', more: 3 },
    { from: '2', more: 7 },
  ])('from $from by $more steps equals an uninterrupted run of nine', async ({ from, more }) => {
    const run = `from-${from}`;
    cpSync(at('short'), at(run), { recursive: true });
    await ran(['resume', '--training-run', at(run), '--from-step', from, '--additional-steps', String(more)]);
    expect(bytes(run, final).equals(bytes('short', final))).toBe(false);
    expect(bytes(run, final).equals(bytes('whole', final))).toBe(true);
    expect(rows(run)).toEqual(rows('whole'));
    const steps = bytes(run, 'checkpoints.jsonl').toString().trim().split('\n');
    expect((JSON.parse(steps.at(-1)!) as { batch: number }).batch).toBe(9);
  });

  it.each([
    { kind: 'sft', begun: () => [...sftLine, `model_name=micro`] },
    { kind: 'dr-grpo', begun: () => drGrpoLine },
    { kind: 'grpo', begun: () => [...grpoLine, `model=${storyModel(at('stories'))}`] },
  ])('continues a run of $kind to its end, and beyond', async ({ kind, begun }) => {
    const [whole, run] = [`whole-${kind}`, `resumed-${kind}`];
    await ran([...begun(), `log_path=${at(whole)}`]);
    cpSync(at(whole), at(run), { recursive: true });
    await ran(['resume', at(run), 'from_step=2', 'additional_steps=4']);
    expect(bytes(run, final).equals(bytes(whole, final))).toBe(true);
    expect(rows(run)).toEqual(rows(whole));
    await ran(['resume', at(run), 'additional_steps=2']);
    const steps = bytes(run, 'metrics.jsonl').toString().trim().split('\n');
    expect((JSON.parse(steps.at(-1)!) as { step: number }).step).toBe(8);
  });

  it('lists the checkpoints, and changes nothing, when the requested step has none', async () => {
    const before = bytes('short', 'checkpoints.jsonl').toString();
    const { code, stderr } = await memrl(['resume', at('short'), 'from_step=3']);
    expect([code, stderr]).toEqual([2, expect.stringContaining('Give one that is there: 2, 4, 6.')]);
    expect(bytes('short', 'checkpoints.jsonl').toString()).toBe(before);
  });

  it('refuses a directory that is not a run', async () => {
    const { code, stderr } = await memrl(['resume', at('nothing')]);
    expect([code, stderr]).toEqual([2, expect.stringContaining('has no checkpoint')]);
    expect(existsSync(at('nothing'))).toBe(false);
  });
});
