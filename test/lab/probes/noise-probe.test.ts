import { describe, expect, it } from 'vitest';
import { noiseOfMicrobatches } from '../../../src/lab/probes/gradient-noise.js';
import { LossProbe, NoiseProbe } from '../../../src/lab/probes/noise-probe.js';
import { dot } from '../../../src/lab/probes/vectors.js';
import { groupsOf, oddShape, slopes, trainedLooking } from '../engine/models.js';

describe('the noise of a step', () => {
  it('equals that of its microbatches, each taken by itself', async () => {
    const engine = await trainedLooking('loops', oddShape);
    const batches = [1, 2, 3, 4].map((seed) => ({
      groups: groupsOf(oddShape, [[3, 4]], seed),
      scores: slopes(4, seed),
    }));
    const own: Float32Array[] = [];
    for (const { groups, scores } of batches) {
      await engine.clearGradient();
      await engine.forward(groups);
      await engine.backward(scores, null);
      own.push(await engine.gradient());
    }
    await engine.clearGradient();
    const probe = new NoiseProbe(engine);
    for (const { groups, scores } of batches) {
      await engine.forward(groups);
      await engine.backward(
        scores.map((score) => score / 4),
        null,
      );
      await probe.see();
    }
    const whole = own[0]!.map((_, at) => own.reduce((sum, gradient) => sum + gradient[at]! / 4, 0));
    const expected = noiseOfMicrobatches(
      own.map((gradient) => dot(gradient, gradient)),
      dot(whole, whole),
      3,
    );
    const found = probe.take(3)!;
    expect(found.signal / expected.signal).toBeCloseTo(1, 4);
    expect(found.noise / expected.noise).toBeCloseTo(1, 4);
    expect(probe.take(3)).toBeNull();
  });
});

describe('the noise of the loss of a step', () => {
  const answers = (...weights: number[]) => weights.map((weight) => ({ weights: [0, weight, weight] }));

  it('reports the effective sample size of the weights and the spread of the microbatches', () => {
    const probe = new LossProbe();
    // Two answers each of two prompts, whose longest have three tokens and two.
    probe.see(answers(1 / 6, 1 / 6), 0.1);
    probe.see(answers(1 / 4, 1 / 4), 0.3);
    const { ess, error } = probe.take();
    expect(ess).toBeCloseTo(3.846154, 6);
    // The sum of two numbers that deviate by 0.2/√2 each.
    expect(error).toBeCloseTo(0.2, 12);
  });

  it('has no error for a single microbatch, and is reset after each step', () => {
    const probe = new LossProbe();
    probe.see(answers(1, 9), 1);
    probe.take();
    probe.see(answers(0.5, 0.5, 0.5), 1);
    expect(probe.take()).toEqual({ ess: 3, error: null });
  });
});
