import { describe, expect, it } from 'vitest';
import type { ModelShape } from '../../../src/lab/engine/engine.js';
import { offsetsOf } from '../../../src/lab/engine/layout.js';
import { checkShape, presets } from '../../../src/lab/engine/model-shape.js';
import { makeEngine, oddShape } from './models.js';

describe('a model shape', () => {
  it.each(Object.entries(presets))('of the preset %s works with the engine', (_, shape) => {
    expect(() => checkShape(shape)).not.toThrow();
  });

  it.each<{ change: Partial<ModelShape>; says: string }>([
    { change: { vocabulary: 0 }, says: '`vocabulary`, 0, is not a whole number above 0' },
    { change: { layers: 1.5 }, says: '`layers`, 1.5' },
    { change: { context: NaN }, says: '`context`, NaN' },
    { change: { kvHeads: 4 }, says: '`kvHeads`, 4, does not divide `heads`' },
    { change: { width: 30 }, says: '`width`, 30, is not a multiple of 4 × `heads`' },
    { change: { feedForward: 2.5 }, says: '`feedForward`, 2.5, is not a whole number above 0' },
    { change: { ropeTheta: 0 }, says: '`ropeTheta`, 0' },
    { change: { normEpsilon: -1 }, says: '`normEpsilon`, -1' },
  ])('is refused with the wrong number named: $says', async ({ change, says }) => {
    await expect(makeEngine('wasm', { ...oddShape, ...change })).rejects.toThrow(says);
  });

  it('is refused when it needs more memory than can be addressed, with the amount', async () => {
    const huge = { ...oddShape, vocabulary: 100_000_000 };
    expect(offsetsOf(huge).size).toBeGreaterThan(2 ** 32);
    await expect(makeEngine('wasm', huge)).rejects.toThrow(/need \d+\.\d GiB/);
  });
});
