import { describe, expect, it } from 'vitest';
import {
  multiStepEnvironment,
  singleStepEnvironment,
} from '../../../../src/lab/environments/memory/memory-environment.js';
import { bitUniformity, numberUniformity } from '../../../../src/lab/environments/memory/uniformity.js';
import { bitsKnown } from '../../../../src/lab/probes/bits-known.js';
import { EngineService } from '../../../../src/lab/service/engine-service.js';
import { microEngine } from '../../micro-engine.js';

describe('uniformity', () => {
  it('of numbers: valid rate and entropy follow from the probabilities of all numbers', async () => {
    const engine = await microEngine();
    const found = await numberUniformity(new EngineService(engine), 16);
    expect([...found.bitsBySecret.keys()]).toEqual([...Array(16).keys()]);
    const probabilities = [...found.bitsBySecret.values()].map((bits) => 2 ** (bits - 4));
    const sum = probabilities.reduce((total, p) => total + p, 0);
    expect(found.validRate).toBeCloseTo(sum, 9);
    expect(found.validRate).toBeLessThan(1);
    const entropy = -probabilities.reduce((total, p) => total + (p / sum) * Math.log2(p / sum), 0);
    expect(found.entropyRatio).toBeCloseTo(entropy / 4, 9);
    const known = await bitsKnown(
      new EngineService(engine),
      singleStepEnvironment({ N: 16, secret: 9, prefix: [] }, { type: 'binary' }).solution(),
    );
    expect(found.bitsBySecret.get(9)).toBeCloseTo(known['test/bits/answer_raw'], 4);
  });

  it('of bits: agrees with bits known for the given secrets', async () => {
    const engine = await microEngine();
    const found = await bitUniformity(engine, 4096, [3619]);
    const game = multiStepEnvironment({ N: 4096, secret: 3619, prefix: [] });
    expect(found.bitsBySecret.size).toBe(64);
    expect(found.bitsBySecret.get(3619)).toBeCloseTo(
      (await bitsKnown(new EngineService(engine), game.solution()))['test/bits/answer_raw'],
      3,
    );
  });
});
