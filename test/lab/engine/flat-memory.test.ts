import { expect, it } from 'vitest';
import { trainingStep } from '../../../src/lab/bench/bench.js';
import { createEngine } from '../../../src/lab/engine/create-engine.js';
import { rng } from '../../../src/lab/rng.js';
import { backends, kernelsOf, oddShape, trainedLookingWeights } from './models.js';

it.each(backends)('the memory of %s kernels does not grow from 3 to 120 training steps', async (backend) => {
  const kernels = await kernelsOf(backend);
  const engine = await createEngine(oddShape, { kernels });
  await engine.loadWeights(trainedLookingWeights(oddShape));
  const random = rng(1, 'steps');
  const steps = async (count: number): Promise<number[]> => {
    for (let i = 0; i < count; i++) await trainingStep(engine, { sequences: 3, prompt: 4, sampled: 5 }, random);
    const prompts = [{ tokens: Int32Array.of(1, 2), seed: random.below(1000) }];
    await engine.generate(prompts, { maxTokens: 9, temperature: 1 });
    return [kernels.heap.used, kernels.heap.memory.buffer.byteLength];
  };
  const first = await steps(3);
  expect(await steps(120)).toEqual(first);
});
