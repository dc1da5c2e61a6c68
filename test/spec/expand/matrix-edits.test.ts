import fc from 'fast-check';
import { valueText } from '../../../src/query/text.js';
import { describe, expect, it } from 'vitest';
import { planOf } from '../sweeps.js';

const points = (text: string) => planOf(`command: [a]\n${text}`).runs.map(({ parameters }) => parameters);

describe('exclude', () => {
  it('leaves out the points that have all values of an entry', () => {
    expect(points('parameters: {a: [1, 2], b: [x, y]}\nexclude: [{a: 1, b: y}, {a: 2, b: x}]')).toEqual([
      { a: 1, b: 'x' },
      { a: 2, b: 'y' },
    ]);
  });

  it('looks at constants and cases too', () => {
    const text = 'parameters: {a: [1, 2], c: 0}\ncases: [{r: x}, {r: y, k: [1, 2]}]\nexclude: [{c: 0, r: y, k: 2}]';
    expect(points(text).map((point) => `${valueText(point['a']!)}${valueText(point['r']!)}`)).toEqual([
      '1x',
      '1y',
      '2x',
      '2y',
    ]);
  });

  it('has as many points as a filter would leave, whatever is excluded', () => {
    const values = fc.uniqueArray(fc.integer({ min: 0, max: 4 }), { minLength: 1 });
    const entries = fc.array(fc.record({ a: fc.nat(4), b: fc.nat(4) }, { requiredKeys: ['a'] }), { maxLength: 4 });
    fc.assert(
      fc.property(values, values, entries, (a, b, exclude) => {
        const left = a
          .flatMap((one) => b.map((two) => ({ a: one, b: two })))
          .filter((point) => !exclude.some((entry) => entry.a === point.a && (entry.b ?? point.b) === point.b));
        if (left.length === 0) return;
        const text = JSON.stringify({ command: ['x'], parameters: { a, b }, exclude });
        expect(planOf(text).runs.map(({ parameters }) => parameters)).toEqual(left);
      }),
      { numRuns: 100 },
    );
  });
});

describe('include', () => {
  // The example of the documentation of GitHub Actions.
  it('adds to the points whose matrix it does not change, and else makes points of its own', () => {
    const text = [
      'parameters: {fruit: [apple, pear], animal: [cat, dog]}',
      'include:',
      '  - color: green',
      '  - {color: pink, animal: cat}',
      '  - {fruit: apple, shape: circle}',
      '  - fruit: banana',
      '  - {fruit: banana, animal: cat}',
    ].join('\n');
    expect(points(text)).toEqual([
      { fruit: 'apple', animal: 'cat', color: 'pink', shape: 'circle' },
      { fruit: 'apple', animal: 'dog', color: 'green', shape: 'circle' },
      { fruit: 'pear', animal: 'cat', color: 'pink' },
      { fruit: 'pear', animal: 'dog', color: 'green' },
      { fruit: 'banana' },
      { fruit: 'banana', animal: 'cat' },
    ]);
  });

  it('may change a constant at some points, and points of its own have the other constants', () => {
    expect(
      points('parameters: {seed: [0, 1], lr: 0.1, n: 5}\ninclude: [{seed: 1, lr: 0.5}, {seed: 7, lr: 0.9}]'),
    ).toEqual([
      { seed: 0, lr: 0.1, n: 5 },
      { seed: 1, lr: 0.5, n: 5 },
      { seed: 7, lr: 0.9, n: 5 },
    ]);
  });

  it('does not change a list of one value', () => {
    expect(points('parameters: {a: [1], b: 2}\ninclude: [{a: 3}]')).toEqual([
      { a: 1, b: 2 },
      { a: 3, b: 2 },
    ]);
  });

  it('brings back what was excluded', () => {
    expect(points('parameters: {a: [1, 2]}\nexclude: [{a: 2}]\ninclude: [{a: 2}]')).toEqual([{ a: 1 }, { a: 2 }]);
  });

  it('is there before anything is computed from it', () => {
    expect(points('parameters: {a: [1, 2], lr: 0.1, b: {expr: "a * 10.0 * lr"}}\ninclude: [{a: 2, lr: 0.5}]')).toEqual([
      { a: 1, lr: 0.1, b: 1 },
      { a: 2, lr: 0.5, b: 10 },
    ]);
  });

  it('is inherited, and replaced by that of a group', () => {
    const text = 'parameters: {a: [1, 2]}\ninclude: [{a: 3}]\ngroups: {A: {}, B: {include: []}}';
    expect(points(text)).toHaveLength(5);
  });
});
