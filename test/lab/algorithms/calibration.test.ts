import { describe, expect, it } from 'vitest';
import { bitsToCalibrate, calibrate, numbersToCalibrate } from '../../../src/lab/environments/memory/calibration.js';
import { rng } from '../../../src/lab/rng.js';
import { EngineService } from '../../../src/lab/service/engine-service.js';
import { microEngine } from '../micro-engine.js';

const sum = (values: readonly number[]) => values.reduce((all, value) => all + value, 0);

describe('calibration', () => {
  it('targets equally likely answers, and draws short ones more often than uniform sampling does', () => {
    const answers = numbersToCalibrate(1024, 400, rng(0, 'x'), 'decimal');
    for (const { targets } of answers) expect(sum(targets)).toBeCloseTo(-Math.log(1024), 9);
    const short = answers.filter(({ example }) => sum([...example.weights]) <= 3);
    expect(short.length).toBeGreaterThan(20);
    expect(sum(bitsToCalibrate(1024, rng(0, 'x')).targets)).toBeCloseTo(-Math.log(1024), 9);
  });

  it('has a gradient that matches its loss', async () => {
    const engine = await microEngine(1);
    const answers = [...numbersToCalibrate(64, 3, rng(1, 'x'), 'gray'), bitsToCalibrate(8, rng(1, 'x'))];
    await calibrate(new EngineService(engine), answers);
    const gradient = await engine.gradient();
    const norm2 = sum([...gradient].map((each) => each * each));
    const at = async (scale: number) => {
      const moved = await engine.clone();
      await moved.addToWeights(gradient, scale);
      return calibrate(new EngineService(moved), answers);
    };
    const h = 1e-3 / Math.sqrt(norm2);
    expect(((await at(h)) - (await at(-h))) / (2 * h)).toBeCloseTo(norm2, 2);
  });

  it('makes the answers of a miscalibrated model equally likely', async () => {
    const engine = await microEngine(2);
    const service = new EngineService(engine);
    const answers = [bitsToCalibrate(8, rng(1, 'x'))];
    const before = await calibrate(service, answers);
    for (let step = 0; step < 60; step++) {
      await calibrate(service, answers);
      await engine.adam({ learningRate: 1e-2, beta1: 0.9, beta2: 0.95, epsilon: 1e-8 });
    }
    expect(await calibrate(service, answers)).toBeLessThan(before / 20);
  });
});
