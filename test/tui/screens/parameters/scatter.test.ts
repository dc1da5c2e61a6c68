import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { scatter, type ScatterRuns } from '../../../../src/tui/screens/parameters/scatter.js';
import { lineWidth, plainText } from '../../../../src/tui/surface/span.js';
import { aSweep, faults, lowest, seen } from './pictures.js';

const sweep = aSweep(120);
const plain: Omit<ScatterRuns, 'x' | 'y'> = { groups: null, best: null, selected: null };
const heading = (runs: ScatterRuns) => plainText(scatter(runs, { width: 120, height: 12 })[0]!);

describe('a scatter plot', () => {
  it('has a dot per run, decades apart evenly, groups told by signs, and marks', () => {
    const runs = { x: sweep.lr, y: sweep.loss, groups: sweep.optimizer, best: lowest(sweep.loss), selected: 7 };
    expect(seen(scatter(runs, { width: 90, height: 18 }))).toMatchSnapshot();
  });

  it('has texts side by side, each with room for its runs', () => {
    expect(seen(scatter({ ...plain, x: sweep.optimizer, y: sweep.loss }, { width: 60, height: 12 }))).toMatchSnapshot();
  });

  it('puts labels where the dots of their values are', () => {
    const texts = { name: 'kind', values: ['a', 'b', 'c'] };
    const numbers = { name: 'n', values: [1, 1, 1] };
    const lines = scatter({ ...plain, x: numbers, y: texts }, { width: 40, height: 13 }).map(plainText);
    for (const text of texts.values) {
      const row = lines.findIndex((line) => line.startsWith(`  ${text}┤`));
      expect(lines.slice(row - 1, row + 2).join('')).toMatch(/[⠁-⣿]/);
    }
  });

  it('says how far the ranks agree, over the runs that have both', () => {
    const x = { name: 'x', values: [1, 2, 3, 4, 5] };
    expect(heading({ ...plain, x, y: { name: 'y', values: [1, 4, 9, NaN, 100] } })).toContain(
      'rank correlation 1.00 (n 4) · 1 without a value',
    );
    expect(heading({ ...plain, x, y: { name: 'y', values: ['a', 'b', 'a', 'b', 'a'] } })).toMatch(/─ 5 runs *$/);
  });

  it('fits any room', () => {
    const room = fc.record({ width: fc.integer({ min: 40, max: 200 }), height: fc.integer({ min: 1, max: 60 }) });
    const column = fc.constantFrom(...Object.values(sweep));
    fc.assert(
      fc.property(room, column, column, fc.boolean(), (size, x, y, isGrouped) => {
        const groups = isGrouped ? sweep.optimizer : null;
        const lines = scatter({ x, y, groups, best: 1, selected: 2 }, size);
        expect(lines.length).toBeLessThanOrEqual(size.height);
        expect(faults(lines, size.width)).toEqual([]);
        for (const line of lines) expect(lineWidth(line)).toBe(size.width);
      }),
    );
  });
});
