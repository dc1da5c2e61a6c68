import { describe, expect, it } from 'vitest';
import type { ModelShape } from '../../../../src/lab/engine/engine.js';
import { presets } from '../../../../src/lab/engine/model-shape.js';
import { openBackend } from '../../../../src/lab/engine/tfjs/backends.js';
import { importModule } from '../../../../src/base/import-module.js';
import { TfjsEngine } from '../../../../src/lab/engine/tfjs/tfjs-engine.js';
import { groupsOf, oddShape, slopes, trainedLookingWeights } from '../models.js';

const adam = { learningRate: 0.01, beta1: 0.9, beta2: 0.999, epsilon: 1e-8 };

/** One of everything that an engine does while it learns, on batches of other sizes each time. */
async function step(engine: TfjsEngine, shape: ModelShape, index: number): Promise<void> {
  const decoder = await engine.decoder(Int32Array.of(1, 2, 3), 3);
  await decoder.extend([[1], [2, 3], []]);
  await decoder.extend([[], [], [4]]);
  await decoder.sample([0.1, 0.5, 0.9], 1);
  const groups = groupsOf(
    shape,
    [
      [2 + (index % 3), 4, 1 + (index % 4)],
      [3, 2],
    ],
    index,
  );
  const { logprobs } = await engine.forward(groups);
  await engine.backward(slopes(logprobs.length, index), slopes(logprobs.length, index + 100));
  await engine.backward(slopes(logprobs.length, index), null);
  await engine.gradient();
  if (index % 2 === 0) await engine.clearGradient();
  await engine.adam(adam);
  await expect(engine.forward([])).rejects.toThrow(/no prompt groups/);
}

describe.each(['tfjs-wasm', 'tfjs-cpu'] as const)('tensors on %s', (name) => {
  it.each([
    { shape: oddShape, which: 'an untied head' },
    { shape: presets.micro, which: 'a tied one, scores in pieces' },
  ])('are as many after twenty steps as after one, and gone with the engine: $which', async ({ shape }) => {
    const opened = await openBackend(name, { environment: {}, load: importModule });
    if (opened.kind === 'absent') throw new Error(opened.why);
    const { tf } = opened.device;
    const before = tf.memory().numTensors;
    const engine = new TfjsEngine(opened.device, shape, { keptScores: 5 * oddShape.vocabulary });
    await engine.loadWeights(trainedLookingWeights(shape));
    await step(engine, shape, 0);
    const { numTensors, numDataBuffers, numBytes } = tf.memory();
    for (let index = 1; index <= 20; index++) await step(engine, shape, 12 * index);
    expect(tf.memory()).toMatchObject({ numTensors, numDataBuffers, numBytes });
    await engine.loadWeights(await engine.weights());
    await engine.loadOptimizerState(await engine.optimizerState());
    expect(tf.memory().numTensors).toBeLessThanOrEqual(numTensors);
    await engine.dispose();
    expect(tf.memory().numTensors).toBe(before);
  });

  it('a computation cancelled between two steps leaks no tensors, and the next one is complete', async () => {
    const opened = await openBackend(name, { environment: {}, load: importModule });
    if (opened.kind === 'absent') throw new Error(opened.why);
    const { tf } = opened.device;
    let left = Infinity;
    const pause = () => (--left > 0 ? null : Promise.reject(new Error('given up')));
    const engine = new TfjsEngine(opened.device, oddShape, { pause });
    const weights = trainedLookingWeights(oddShape);
    const groups = groupsOf(oddShape, [[2, 4, 3]], 1);
    const learn = async () => {
      await engine.loadWeights(weights);
      await engine.clearGradient();
      await engine.forward(groups);
      await engine.backward(slopes(7, 2), null);
      await engine.generate([{ tokens: Int32Array.of(1, 2), seed: 1 }], { maxTokens: 5, temperature: 1 });
      return engine.gradient();
    };
    const whole = await learn();
    await engine.clearGradient();
    await engine.forward(groups);
    const { numTensors } = tf.memory();
    for (const pauses of [1, 2, 3, 4, 6, 8]) {
      left = pauses;
      await expect(learn()).rejects.toThrow('given up');
      left = Infinity;
      await engine.clearGradient();
      await engine.forward(groups);
      expect(tf.memory().numTensors).toBe(numTensors);
    }
    expect(await learn()).toEqual(whole);
    await engine.dispose();
  });
});
