import { describe, expect, it } from 'vitest';
import { sequenceGradients } from '../../../src/lab/engine/sequence-gradients.js';
import { backends, groupsOf, maxDifference, oddShape, slopes, trainedLooking } from './models.js';

const groups = groupsOf(oddShape, [
  [3, 4, 2],
  [1, 5],
]);
const counts = [4, 2, 5];
/** The slopes of the whole batch, and from which token on those of each sequence begin. */
const [dLogprob, dEntropy] = [slopes(11, 1), slopes(11, 2)];
const firsts = [0, 4, 6];

describe.each(backends)('the gradients of single sequences on %s kernels', (backend) => {
  it.each([1, 0.5])('sum to that of the batch, at temperature %s', async (temperature) => {
    const engine = await trainedLooking(backend, oddShape);
    const whole = await engine.forward(groups, { temperature });
    await engine.backward(dLogprob, dEntropy);
    const batch = await engine.gradient();
    const sum = new Float64Array(batch.length);
    const seen: number[][] = [];
    const own = (group: number, continuation: number) => {
      const index = group * 2 + continuation;
      return [firsts[index]!, firsts[index]! + counts[index]!] as const;
    };
    const each = sequenceGradients(
      engine,
      groups,
      ({ logprobs }, group, continuation) => {
        const [from, to] = own(group, continuation);
        expect(logprobs).toEqual(whole.logprobs.slice(from, to));
        return { dLogprob: dLogprob.slice(from, to), dEntropy: dEntropy.slice(from, to) };
      },
      { temperature },
    );
    for await (const { group, continuation, gradient } of each) {
      seen.push([group, continuation]);
      gradient.forEach((g, i) => (sum[i]! += g));
      expect(maxDifference(gradient, batch)).toBeGreaterThan(1e-3);
    }
    expect(seen).toEqual([
      [0, 0],
      [0, 1],
      [1, 0],
    ]);
    expect(maxDifference(sum, batch)).toBeLessThan(1e-5 * Math.max(...batch.map(Math.abs)) + 1e-6);
    expect((await engine.gradient()).every((g) => g === 0)).toBe(true);
  });

  it('do not contain what the engine had gathered before', async () => {
    const engine = await trainedLooking(backend, oddShape);
    const first = async () => {
      const each = sequenceGradients(engine, groups, ({ logprobs }) => ({
        dLogprob: logprobs.map(() => 1),
        dEntropy: null,
      }));
      for await (const { gradient } of each) return gradient;
      return null;
    };
    const clean = await first();
    await engine.forward(groups);
    await engine.backward(dLogprob, null);
    expect(await first()).toEqual(clean);
  });
});
