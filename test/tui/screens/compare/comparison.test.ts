import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  differingAnnotations,
  differingParameters,
  valuesText,
  withoutCommon,
} from '../../../../src/tui/screens/compare/comparison.js';
import { aRun } from '../../simulated-fleet.js';

const run = (parameters: Record<string, string | number | null | string[]>) => aRun('A_x', { parameters });

describe('parameters that differ', () => {
  it.each<{ when: string; lists: ReturnType<typeof run>[][]; keys: string[] }>([
    { when: 'one value here and another there', lists: [[run({ lr: 1, N: 4 })], [run({ lr: 2, N: 4 })]], keys: ['lr'] },
    { when: 'a parameter that some lack', lists: [[run({ bins: 4 })], [run({})]], keys: ['bins'] },
    { when: 'null and lacking are not the same', lists: [[run({ a: null })], [run({})]], keys: ['a'] },
    { when: 'a number and its text are not the same', lists: [[run({ a: 1 })], [run({ a: '1' })]], keys: ['a'] },
    { when: 'lists by their items', lists: [[run({ a: ['x'] })], [run({ a: ['x', 'y'] })]], keys: ['a'] },
    {
      when: 'the same seeds in both are no difference',
      lists: [
        [run({ seed: 0, N: 4 }), run({ seed: 1, N: 4 })],
        [run({ seed: 1, N: 8 }), run({ seed: 0, N: 8 })],
      ],
      keys: ['N'],
    },
    { when: 'other seeds are', lists: [[run({ seed: 0 }), run({ seed: 1 })], [run({ seed: 0 })]], keys: ['seed'] },
  ])('$when', ({ lists, keys }) => {
    expect(differingParameters(lists).map(({ key }) => key)).toEqual(keys);
  });

  const parameters = fc.dictionary(
    fc.constantFrom('a', 'b', 'c', 'd'),
    fc.constantFrom<string | number | null>(0, 1, '1', null, 'x'),
  );

  it('are all there, and none that has the same values everywhere', () => {
    const lists = fc.array(fc.array(parameters.map(run), { minLength: 1, maxLength: 4 }), {
      minLength: 2,
      maxLength: 5,
    });
    fc.assert(
      fc.property(lists, (compared) => {
        const shown = new Set(differingParameters(compared).map(({ key }) => key));
        for (const key of ['a', 'b', 'c', 'd']) {
          const sets = compared.map((runs) =>
            JSON.stringify([...new Set(runs.map((one) => JSON.stringify(one.parameters[key]) ?? 'lacking'))].sort()),
          );
          expect(shown.has(key)).toBe(new Set(sets).size > 1);
        }
      }),
    );
  });
});

describe('annotations that differ', () => {
  const noted = (tags: string[], note: string | null = null) =>
    aRun('A_x', { parameters: { tags: 'own' }, annotation: { starred: false, tags, note } });

  it('are told like parameters, also of runs that have a parameter of that name', () => {
    expect(differingAnnotations([[noted(['a', 'b'])], [noted([], 'best')], [aRun('A_y')]])).toEqual([
      { key: 'tags', cells: [['a, b'], [undefined], [undefined]] },
      { key: 'note', cells: [[undefined], ['best'], [undefined]] },
    ]);
    expect(differingAnnotations([[noted(['a'])], [noted(['a'])]])).toEqual([]);
  });
});

describe('several values in a cell', () => {
  it.each<[(string | number | undefined)[], number, string]>([
    [[0.1], 8, '0.1'],
    [[undefined], 8, '–'],
    [['binary', 'B4'], 12, 'binary B4'],
    [[16, 64, 256, 1024, 4096], 12, '16…4096 (5)'],
    [['binary', 'B4', 'B8'], 8, '3 values'],
    [['a\u001b[31mred'], 20, 'ared'],
  ])('%j in %i columns: %s', (values, width, text) => {
    expect(valuesText(values, width)).toBe(text);
  });
});

describe('texts that are too wide to be compared', () => {
  it.each<{ texts: string[]; width: number; shown: string[] }>([
    {
      texts: ['runs/warmup_N64/last.ckpt', 'runs/warmup_N256/last.ckpt'],
      width: 16,
      shown: ['…N64/last.ckpt', '…N256/last.ckpt'],
    },
    { texts: ['runs/a', 'runs/b'], width: 16, shown: ['runs/a', 'runs/b'] },
    {
      texts: ['the same long text', 'the same long text'],
      width: 4,
      shown: ['the same long text', 'the same long text'],
    },
    { texts: ['model-large', 'model'], width: 6, shown: ['…large', 'model'] },
    { texts: ['–', 'runs/warmup_N256/last'], width: 8, shown: ['–', '…last'] },
  ])('$texts in $width columns are $shown', ({ texts, width, shown }) => {
    expect(withoutCommon(texts, width)).toEqual(shown);
  });
});
