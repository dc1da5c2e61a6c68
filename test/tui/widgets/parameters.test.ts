import { describe, expect, it } from 'vitest';
import type { RunSummary } from '../../../src/tui/state/port.js';
import { parameterLines } from '../../../src/tui/widgets/parameters.js';
import { plainText } from '../../../src/tui/surface/span.js';
import { varyingKeys } from '../../../src/tui/model/varying-parameters.js';
import { aRun } from '../simulated-fleet.js';

const runs = [0, 1, 2].map((seed) =>
  aRun(`A_${seed}`, { parameters: { batch: 4, seed, lr: 4e-5, layers: [1, 2], note: null } }),
);
const lines = (shown: readonly RunSummary[], width: number, height: number) =>
  parameterLines(shown, varyingKeys(runs), width, height).map(plainText);

describe('the parameters', () => {
  it('begin with those that vary, and flow into lines', () => {
    expect(lines(runs.slice(1, 2), 30, 5)).toEqual(['seed 1  batch 4  lr 0.00004', 'layers [1, 2]  note null']);
  });

  it('give all values of several runs, or how many there are', () => {
    expect(lines(runs, 40, 5)[0]).toContain('seed 0 1 2');
    const many = Array.from({ length: 40 }, (_, seed) => aRun(`A_${seed}`, { parameters: { seed } }));
    expect(lines(many, 20, 5)).toEqual(['seed 40 values']);
  });

  it('end with those that only the program has declared', () => {
    const run = aRun('A_1', { parameters: { lr: 0.1 }, declared: { warmup: 10, lr: 5 } });
    expect(lines([run], 40, 5)).toEqual(['lr 0.1  warmup 10']);
  });

  it('say how many found no room', () => {
    expect(lines(runs.slice(0, 1), 20, 1)).toEqual(['seed 0  batch 4   +3']);
  });

  it('make foreign text harmless', () => {
    const run = aRun('A_1', { parameters: { text: 'two\nlines\u001b[31m' } });
    expect(lines([run], 40, 2)).toEqual(['text two lines']);
  });
});

describe('what varies', () => {
  it('is what has two values, or is missing in some run', () => {
    expect([...varyingKeys(runs)]).toEqual(['seed']);
    expect([...varyingKeys([...runs, aRun('B', { parameters: { batch: 4 } })])].sort()).toEqual([
      'layers',
      'lr',
      'note',
      'seed',
    ]);
    expect(varyingKeys([]).size).toBe(0);
  });
});
