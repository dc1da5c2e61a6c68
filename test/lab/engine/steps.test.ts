import { describe, expect, it } from 'vitest';
import { compiledKernels, createEngine } from '../../../src/lab/engine/create-engine.js';
import type { Engine, ModelShape } from '../../../src/lab/engine/engine.js';
import { allocateOuterProduct } from '../../../src/lab/engine/kernels/records.js';
import { maxDifference, groupsOf, slopes, trainedLookingWeights } from './models.js';

/** So large that one step computes at most 146 tokens of a prompt, and 256 rows of a layer. */
const shape: ModelShape = {
  vocabulary: 13,
  width: 512,
  layers: 1,
  heads: 4,
  kvHeads: 4,
  feedForward: 4096,
  tied: true,
  ropeTheta: 10_000,
  normEpsilon: 1e-5,
  context: 400,
};

/** An engine that counts how often it could have been left. */
async function counting(): Promise<{ engine: Engine; counted: { pauses: number } }> {
  const counted = { pauses: 0 };
  const pause = () => {
    counted.pauses++;
    return counted.pauses % 2 === 0 ? Promise.resolve() : null;
  };
  const engine = await createEngine(shape, { pause });
  await engine.loadWeights(trainedLookingWeights(shape).map((weight) => weight / 8));
  return { engine, counted };
}

describe('a model whose layers are computed in several steps', () => {
  it(
    'gives tokens after a long prompt the bits of training, whether activations are kept or not',
    { tags: ['long'] },
    async () => {
      const { engine, counted } = await counting();
      const prompts = groupsOf(shape, [[300], [170]]).map(({ prompt }, seed) => ({ tokens: prompt, seed }));
      const scored = async (written: readonly Int32Array[]) =>
        (await engine.forward(prompts.map(({ tokens }, at) => ({ prompt: tokens, continuations: [written[at]!] }))))
          .logprobs;
      // At another temperature nothing is kept for later calls.
      for (const temperature of [1, 0.5]) {
        const before = counted.pauses;
        const drawn = [];
        for (const prompt of prompts) drawn.push(...(await engine.generate([prompt], { maxTokens: 3, temperature })));
        expect(counted.pauses - before).toBeGreaterThan(2 + 1 + 4);
        const together = await engine.generate(prompts, { maxTokens: 3, temperature });
        expect(together).toEqual(drawn);
        const said = Float32Array.from(drawn.flatMap(({ logprobs }) => [...logprobs]));
        expect(said).toEqual(await scored(drawn.map(({ tokens }) => tokens)));
      }
      const decoder = await engine.decoder(prompts[0]!.tokens.subarray(0, 1), 1);
      await decoder.extend([[...prompts[0]!.tokens.subarray(1)]]);
      const whole = await engine.decoder(prompts[0]!.tokens, 1);
      expect(await decoder.logprobs()).toEqual(await whole.logprobs());
    },
  );

  it('has the sum of the gradients of its two halves', async () => {
    const { engine, counted } = await counting();
    const [a, b] = groupsOf(shape, [
      [1, 350],
      [1, 260],
    ]);
    const dLogprob = slopes(610, 4);
    await engine.forward([a!, b!]);
    await engine.backward(dLogprob, null);
    const together = await engine.gradient();
    expect(counted.pauses).toBeGreaterThan(3 * 6);
    await engine.clearGradient();
    await engine.forward([a!]);
    await engine.backward(dLogprob.subarray(0, 350), null);
    await engine.forward([b!]);
    await engine.backward(dLogprob.subarray(350), null);
    const apart = await engine.gradient();
    expect(maxDifference(together, apart)).toBeLessThan(
      2e-5 * together.reduce((most, g) => Math.max(most, Math.abs(g)), 0),
    );
  });
});

it('sums over rows are the same to the bit in parts of 256 rows', async () => {
  const kernels = await compiledKernels();
  const { heap } = kernels;
  const [rows, width] = [600, 24];
  const put = (values: Float32Array) => {
    const at = heap.allocate(values.length);
    heap.f32.set(values, at / 4);
    return at;
  };
  const [left, right] = [put(slopes(rows * width, 1)), put(slopes(rows * width, 2))];
  const [weights, scales] = [put(slopes(width, 3)), put(slopes(rows, 4))];
  const outer = allocateOuterProduct(heap, { leftWidth: width, leftRow: width, rightWidth: width });
  const scratch = heap.allocate(16 + 256 * width);
  const results = [[600], [256, 256, 88], [512, 88]].map((parts) => {
    const [sums, norms, dx] = [put(slopes(width * width, 5)), put(slopes(width, 6)), put(slopes(rows * width, 7))];
    let at = 0;
    for (const some of parts) {
      const skip = at * width * 4;
      kernels.addProduct(outer, some, left + skip, right + skip, sums, scratch);
      kernels.rmsNormBackward(some, width, left + skip, right + skip, weights, scales + at * 4, dx + skip, norms);
      at += some;
    }
    const all = [sums, width * width, norms, width, dx, rows * width];
    return [0, 2, 4].map((part) => heap.f32.slice(all[part]! / 4, all[part]! / 4 + all[part + 1]!));
  });
  expect(results[1]).toEqual(results[0]);
  expect(results[2]).toEqual(results[0]);
});
