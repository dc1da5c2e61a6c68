import { describe, expect, it } from 'vitest';
import type { Engine } from '../../../src/lab/engine/engine.js';
import { rng } from '../../../src/lab/rng.js';
import { singleStepEnvironment } from '../../../src/lab/environments/memory/memory-environment.js';
import { answerSlope } from '../../../src/lab/probes/answer-slope.js';
import { optimizers, orthogonal, takeStep } from '../../../src/lab/service/descent.js';
import { EngineService } from '../../../src/lab/service/engine-service.js';
import { cookbookAdam } from '../../../src/lab/update/update.js';
import { microEngine } from '../micro-engine.js';

const solution = singleStepEnvironment({ N: 64, secret: 37, prefix: [] }, { type: 'binary' }).solution();
const first = solution.answerWeights.indexOf(1);
const weights = Float64Array.from(solution.answerWeights.slice(first));
const answer = [{ prompt: solution.tokens.slice(0, first), continuations: [solution.tokens.slice(first)] }];

/** Adds the gradient of −ln p(answer). */
async function descend(engine: Engine): Promise<Float32Array> {
  await engine.forward(answer);
  await engine.backward(
    weights.map((weight) => -weight),
    null,
  );
  return engine.gradient();
}

describe('the slope of the log-odds', () => {
  it.each(optimizers)(
    'is the rate at which a first step of %s raises them, per unit of the learning rate',
    async (optimizer) => {
      const engine = await microEngine();
      const service = new EngineService(engine, optimizer);
      const start = await engine.weights();
      const before = await answerSlope(service, solution, { optimizer, start });
      const learningRate = 0.01 / (before['test/slope'] as number);
      await descend(engine);
      await service.optimStep({ ...cookbookAdam, epsilon: 1e-20, learningRate });
      const after = await answerSlope(service, solution, { optimizer, start });
      const rise = (after['test/log_odds'] as number) - (before['test/log_odds'] as number);
      // Momentum gathers: its first step is a tenth of what its steps come to.
      expect(rise / 0.01).toBeCloseTo(optimizer === 'momentum' ? 0.1 : 1, 1);
      const steps = (await engine.weights()).map((weight, at) => weight - start[at]!);
      expect(after['test/moved']).toBeCloseTo(Math.hypot(...steps), 9);
    },
  );
});

describe('a step', () => {
  it('of sgd is the learning rate times the gradient, which is cleared', async () => {
    const engine = await microEngine();
    const before = await engine.weights();
    const gradient = await descend(engine);
    const norm = await takeStep(engine, { ...cookbookAdam, learningRate: 0.1 }, 'sgd');
    const after = await engine.weights();
    expect(norm).toBeCloseTo(Math.hypot(...gradient), 4);
    after.forEach((weight, at) => expect(weight).toBeCloseTo(before[at]! - 0.1 * gradient[at]!, 6));
    expect(Math.max(...(await engine.gradient()).map(Math.abs))).toBe(0);
  });

  it('of momentum adds nine tenths of the previous sum, also after saving and loading', async () => {
    const engine = await microEngine();
    const options = { ...cookbookAdam, learningRate: 0.01 };
    const g1 = await descend(engine);
    await takeStep(engine, options, 'momentum');
    const resumed = await engine.clone();
    await resumed.loadOptimizerState(await engine.optimizerState());
    const before = await resumed.weights();
    const g2 = await descend(resumed);
    await takeStep(resumed, options, 'momentum');
    const after = await resumed.weights();
    after.forEach((weight, at) => expect(weight).toBeCloseTo(before[at]! - 0.01 * (0.9 * g1[at]! + g2[at]!), 6));
  });
});

describe('Newton–Schulz', () => {
  it.each([
    [4, 9],
    [9, 4],
  ])('makes the singular values of a matrix of %i × %i about 1, and keeps its directions', (rows, columns) => {
    const random = rng(1, 'matrix');
    const values = Float64Array.from({ length: rows * columns }, () => random.next() - 0.5);
    const turned = orthogonal(values, rows, columns);
    const [short, long] = rows < columns ? [rows, columns] : [columns, rows];
    const at = (i: number, j: number) => (rows < columns ? turned[i * columns + j]! : turned[j * columns + i]!);
    for (let i = 0; i < short; i++) {
      let square = 0;
      for (let j = 0; j < long; j++) square += at(i, j) ** 2;
      expect(square).toBeGreaterThan(0.4);
      expect(square).toBeLessThan(1.5);
    }
    const inner = turned.reduce((sum, value, index) => sum + value * values[index]!, 0);
    expect(inner).toBeGreaterThan(Math.hypot(...values));
  });
});
