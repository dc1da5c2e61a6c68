import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openPolicy } from '../../src/lab/library.js';
import { tempDirectory } from './temp-directory.js';

const how = { maxTokens: 4, seed: 3 };

it('openPolicy has four operations: the loss is the mean over examples, and a step makes rewarded texts likelier', async () => {
  const policy = await openPolicy({ model: 'micro', seed: 1 });
  const samples = await policy.sample(['a: ', 'a: ', 'b: '], how);
  expect(samples.map(({ prompt, tokens, logprobs }) => [prompt, tokens.length === logprobs.length])).toEqual([['a: ', true], ['a: ', true], ['b: ', true]]); // prettier-ignore
  const [first, , third] = samples;
  // At the weights that sampled, the ratio of each token is 1: the loss is minus its advantage.
  const perToken = Array.from(third!.tokens, (_, at) => at);
  const { loss } = await policy.forwardBackward([{ ...first!, advantage: 2 }, { ...third!, advantage: perToken }]); // prettier-ignore
  const total = 2 * first!.tokens.length + perToken.reduce((sum, each) => sum + each, 0);
  expect(loss).toBeCloseTo(-total / 2, 5);
  const { gradientNorm } = await policy.optimStep({ learningRate: 0 });
  expect(gradientNorm).toBeGreaterThan(0);

  const supervised = { loss: (lp: number, _: number, A: number) => -lp * A };
  const surprise = async () => (await policy.forwardBackward([{ ...first!, advantage: 1 }], supervised)).loss;
  const before = await surprise();
  await policy.optimStep({ learningRate: 1e-2 });
  expect(await surprise()).toBeLessThan(before);
  expect(before).toBeCloseTo(-first!.logprobs.reduce((sum, each) => sum + each, 0), 4);
});

it('openPolicy opens a saved model with the same texts, and continues training it', async () => {
  const policy = await openPolicy({ seed: 2 });
  await policy.forwardBackward((await policy.sample(['x'], how)).map((sample) => ({ ...sample, advantage: 1 })));
  await policy.optimStep({ learningRate: 1e-2 });
  const directory = join(tempDirectory(), 'a', 'model');
  await policy.save(directory);
  expect(readdirSync(directory)).toEqual(
    expect.arrayContaining(['model.safetensors', 'config.json', 'tokenizer.json']),
  );
  const again = await openPolicy({ model: directory });
  const texts = async (one: typeof policy) => (await one.sample(['x', 'y'], how)).map(({ logprobs }) => [...logprobs]);
  expect(await texts(again)).toEqual(await texts(policy));
});

it('openPolicy names a missing model, and an objective whose loss is not a number', async () => {
  await expect(openPolicy({ model: 'large' })).rejects.toThrow('There is no model large.');
  const policy = await openPolicy();
  const [sample] = await policy.sample(['x'], how);
  const nothing = policy.forwardBackward([{ ...sample!, advantage: 1 }], { loss: () => NaN });
  await expect(nothing).rejects.toThrow('The objective: its loss is NaN');
});
