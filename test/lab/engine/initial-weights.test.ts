import { describe, expect, it } from 'vitest';
import { initialWeights } from '../../../src/lab/engine/initial-weights.js';
import { layout } from '../../../src/lab/engine/layout.js';
import { presets } from '../../../src/lab/engine/model-shape.js';
import { weightTensors } from '../../../src/lab/engine/checkpoint.js';
import { numbers } from './models.js';

const tensors = weightTensors(presets.tiny, initialWeights(presets.tiny, numbers(1)));
const deviation = (values: Float32Array) =>
  Math.sqrt(values.reduce((sum, value) => sum + value * value, 0) / values.length);

describe('initial weights', () => {
  it.each(layout(presets.tiny).map(({ name, shape }) => ({ name, norm: shape.length === 1 })))(
    'are normal with the right standard deviation, or 1 for a norm: $name',
    ({ name, norm }) => {
      const { values } = tensors.get(name)!;
      if (norm) return expect(values.every((value) => value === 1)).toBe(true);
      const expected = /o_proj|down_proj/.test(name) ? 0.02 / Math.sqrt(4) : 0.02;
      expect(deviation(values) / expected).toBeGreaterThan(0.95);
      expect(deviation(values) / expected).toBeLessThan(1.05);
      const within = values.filter((value) => Math.abs(value) < expected).length / values.length;
      expect(within).toBeCloseTo(0.683, 1);
    },
  );

  it('depend on the random stream alone', () => {
    const again = initialWeights(presets.micro, numbers(1));
    expect(initialWeights(presets.micro, numbers(1))).toEqual(again);
    expect(initialWeights(presets.micro, numbers(2))).not.toEqual(again);
  });

  it('are finite even when the stream gives 0', () => {
    expect(initialWeights(presets.micro, () => 0).every(Number.isFinite)).toBe(true);
  });
});
