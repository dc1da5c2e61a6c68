import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { manySecrets } from '../../../../src/lab/environments/memory/many-secrets.js';
import { environmentOf } from '../../../../src/lab/environments/text-environment.js';
import { characterTokenizer } from '../../../../src/lab/hugging-face/character-tokenizer.js';
import { answersKnown } from '../../../../src/lab/probes/bits-known.js';
import { RevealedAnswers } from '../../../../src/lab/reference/revealed-answers.js';
import { rng } from '../../../../src/lab/rng.js';
import type { Rollout } from '../../../../src/lab/rollouts/rollouts.js';
import { memrl } from '../../program.js';
import { tempDirectory } from '../../temp-directory.js';

const K = 4;
const setup = { secrets: K, N: 64, seed: 5, answers: 'secret' } as const;
const environment = environmentOf(manySecrets(setup), { name: 'secrets', called: 'It', tokenizer: characterTokenizer });
const task = (index: number) => environment.task(index, rng(0, 'unused'));

/** Log-probabilities as of a model that gives each right answer this probability. */
const certain = (probabilities: readonly number[]) => ({
  forward: async (datums: readonly { readonly tokens: Int32Array }[]) =>
    datums.map(({ tokens }, at) => Float32Array.from(tokens, () => Math.log(probabilities[at]!) / tokens.length)),
});

it('many secrets: the prompt names one of K, other seeds draw others, and only the whole right answer is rewarded', () => {
  expect(Array.from({ length: K }, (_, at) => task(at).text)).toEqual(['secret 00: ', 'secret 01: ', 'secret 02: ', 'secret 03: ']); // prettier-ignore
  const other = manySecrets({ ...setup, secrets: 64, seed: 6 });
  const many = manySecrets({ ...setup, secrets: 64 });
  const goldsOf = (one: typeof many) => Array.from({ length: 64 }, (_, at) => one.task(at, rng(0, '')).gold);
  expect(goldsOf(other)).not.toEqual(goldsOf(many));
  const right = many.task(0, rng(0, ''));
  const rewarded = (text: string, ended: 'stop' | 'length' = 'stop') => many.respond(right, [{ text, ended }]);
  expect(rewarded(String(right.gold))).toEqual({ reward: 1, metrics: { correct: 1, format: 1 } });
  expect(rewarded(String(right.gold), 'length')).toEqual({ reward: 0, metrics: { correct: 0, format: 0 } });
  expect(rewarded('99')).toEqual({ reward: 0, metrics: { correct: 0, format: 0 } });
});

it('many secrets: a warm-up reveals none, since it answers every name with random numbers', () => {
  const { task: drawn } = manySecrets({ ...setup, answers: 'uniform' });
  const random = rng(1, 'warm-up');
  const seen = Array.from({ length: 4000 }, (_, at) => drawn(at, random));
  expect(new Set(seen.map(({ prompt }) => prompt)).size).toBe(K);
  expect(new Set(seen.map(({ prompt, gold }) => `${prompt}${String(gold)}`)).size).toBe(K * 64);
});

it('many secrets: counts the bits in the weights and the bits that rewards revealed', async () => {
  const row = await answersKnown(certain([1, 1 / 64, 1 / 8, 1e-9]), environment, 0);
  expect(row['test/answers/bits_known']).toBeCloseTo(6 + 0 + 3 + 0, 4);
  expect(row['test/answers/known']).toBe(1);
  expect(row['test/answers/accuracy/02']).toBeCloseTo(1 / 8, 5);

  const told = new RevealedAnswers(environment);
  const guessed = (index: number, text: string, metrics: Record<string, number>) =>
    ({ task: task(index), turns: [{ text }], rewards: [{ total: metrics['correct'], metrics }] }) as unknown as Rollout;
  const wrong = { correct: 0, format: 1 };
  told.note([[guessed(0, '01', wrong), guessed(0, '01', wrong), guessed(0, '02', wrong), guessed(0, 'x', { correct: 0, format: 0 })]]); // prettier-ignore
  expect(told.row()['observer/bits_told']).toBeCloseTo(6 - Math.log2(62), 9);
  told.note([[guessed(1, '33', { correct: 1, format: 1 })]]);
  const resumed = new RevealedAnswers(environment);
  resumed.restore(JSON.parse(JSON.stringify(told.state())) as ReturnType<typeof told.state>);
  expect(resumed.row()['observer/bits_told']).toBeCloseTo(12 - Math.log2(62), 9);
});

it('many secrets: memrl train learns them, reports both counts, and resumes to the same bytes', async () => {
  const root = tempDirectory();
  const warmUp = ['num_examples=1024', 'num_epochs=6', 'learning_rate=1e-2', 'batch_size=64', 'eval_every=0'];
  const uniform = 'environment_params={secrets: 4, answers: uniform}';
  const warm = ['sft', 'environment=secrets', 'model_name=micro', 'threads=1', uniform, ...warmUp];
  expect((await memrl([...warm, `log_path=${join(root, 'warm')}`])).code).toBe(0);
  const run = (path: string, steps: number) =>
    memrl([
      ...['train', 'environment=secrets', 'environment_params={secrets: 2, seed: 5}', 'threads=1', 'max_tokens=3'],
      ...[`load_checkpoint_path=${join(root, 'warm')}`, 'batch_size=4', 'group_size=8', 'learning_rate=1e-3'],
      'skip_constant_groups=True',
      ...['eval_every=20', 'log_every=20', 'test_n_batches=0', `n_batches=${steps}`, `log_path=${join(root, path)}`],
    ]);
  for (const [path, steps] of [['whole', 200], ['parts', 90], ['parts', 200]] as const) expect((await run(path, steps)).code).toBe(0); // prettier-ignore
  const rows = (path: string) => readFileSync(join(root, path, 'metrics.jsonl'), 'utf8').trim().split('\n').map((line) => JSON.parse(line) as Record<string, number>); // prettier-ignore
  const [first, last] = [rows('whole')[0]!, rows('whole').at(-1)!];
  expect(rows('parts').at(-1)).toEqual(last);
  expect(first['test/answers/bits_known']).toBeLessThan(1);
  expect(last['observer/bits_told']).toBeGreaterThan(6);
  expect(last['test/answers/bits_known']).toBeGreaterThan(3);
});
