import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  parallelCapacity,
  parallelCoordinates,
  type ParallelRuns,
} from '../../../../src/tui/screens/parameters/parallel-coordinates.js';
import { type Line, lineWidth, plainText } from '../../../../src/tui/surface/span.js';
import { aSweep, faults, lowest, seen } from './pictures.js';

function ofSweep(count: number, more: Partial<ParallelRuns> = {}): ParallelRuns {
  const { lr, optimizer, batch, dropout, loss } = aSweep(count);
  return {
    parameters: [lr, optimizer, batch, dropout],
    objective: loss,
    goal: 'minimize',
    best: { index: lowest(loss), name: 'A_best' },
    selected: { index: 7, name: 'A_x7' },
    ...{ at: null, leftOut: 0 },
    ...more,
  };
}

describe('parallel coordinates', () => {
  it('lead each run through its values to the objective', () => {
    expect(seen(parallelCoordinates(ofSweep(40), { width: 90, height: 20 }))).toMatchSnapshot();
  });

  it('mark the best and the selected run on every axis', () => {
    const text = seen(parallelCoordinates(ofSweep(40), { width: 90, height: 20 }));
    // Five axes and the legend, where the two do not fall on one row.
    expect(text.match(/◆/g)).toHaveLength(6);
    expect(text.match(/●/g)!.length).toBeGreaterThanOrEqual(3);
    expect(text).toContain('A_best 0.0');
  });

  it('draw the lines of the best quarter before those of the others', () => {
    const values = [0, 0, 0, 1];
    const runs = ofSweep(0, {
      parameters: [{ name: 'a', values }],
      objective: { name: 'score', values: [0, 0.1, 0.2, 1] },
      goal: 'maximize',
      best: null,
      selected: null,
    });
    const lines = parallelCoordinates(runs, { width: 40, height: 12 });
    const dots = (tone: string) =>
      lines
        .slice(2, -1)
        .flat()
        .filter((part) => part.tone === tone && /[⠀-⣿]/.test(part.text));
    expect(dots('accent').length).toBeGreaterThan(0);
    expect(dots('faint').length).toBeGreaterThan(0);
    const top = lines[2]!.filter((part) => /[⠁-⣿]/.test(part.text)).map(({ tone }) => tone);
    expect(top).toEqual(['accent']);
  });

  it('show as many parameters as there is room for, and say how many lie to either side', () => {
    expect(parallelCapacity(60)).toBe(4);
    const names = 'abcdefgh'.split('');
    const parameters = names.map((name) => ({ name, values: [0, 1, 2] }));
    const runs = ofSweep(0, { parameters, objective: { name: 'loss', values: [1, 2, 3] }, best: null, selected: null });
    const lines = parallelCoordinates({ ...runs, at: 6 }, { width: 60, height: 10 }).map(plainText);
    expect(lines[0]).toContain('← 3 1 → 3 runs');
    expect(lines[1]!.split(/ +/).filter(Boolean)).toEqual(['d', 'e', 'f', '▸g', 'loss']);
    const past = parallelCoordinates({ ...runs, at: 7 }, { width: 60, height: 10 }).map(plainText);
    expect(past[0]).toContain('← 4 3 runs');
  });

  it('say what they say in ASCII, in any room', () => {
    const runs = ofSweep(30);
    const room = fc.record({ width: fc.integer({ min: 40, max: 200 }), height: fc.integer({ min: 1, max: 60 }) });
    fc.assert(
      fc.property(room, fc.nat(3), (size, at) => {
        const lines: Line[] = parallelCoordinates({ ...runs, at }, size);
        expect(lines.length).toBeLessThanOrEqual(size.height);
        expect(faults(lines, size.width)).toEqual([]);
        for (const line of lines) expect(lineWidth(line)).toBe(size.width);
      }),
    );
  });

  it('draw thousands of runs as soon as they are told of', () => {
    const runs = ofSweep(5000);
    expect(parallelCoordinates(runs, { width: 120, height: 40 })).toHaveLength(40);
  });
});
