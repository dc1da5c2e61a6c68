import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { textWidth } from '../../src/text/display-width.js';
import { distinctNames, fitDistinct } from '../../src/text/distinct-names.js';

const llamas = ['3.2-1B', '3.2-3B', '3.1-8B'].map((size) => `/data/models/meta-llama/Llama-${size}-Instruct`);
const models = ['unsloth', ...llamas].map((model) => `${model}/checkpoints-final`);

describe('distinct names', () => {
  it.each<{ what: string; names: string[]; short: string[] }>([
    { what: 'a shared beginning', names: ['lr_lr0.1_s0', 'lr_lr0.2_s0'], short: ['lr0.1', 'lr0.2'] },
    { what: 'a shared end', names: ['a_checkpoints-final', 'b_checkpoints-final'], short: ['a', 'b'] },
    { what: 'a shared middle', names: ['s0_adam_lr1', 's1_adam_lr2'], short: ['s0_lr1', 's1_lr2'] },
    { what: 'words that some lack', names: ['x_s0', 'x_s1', 'x-shape_s0'], short: ['s0', 's1', 'shape_s0'] },
    { what: 'nothing of a name alone', names: ['A_B8_s0'], short: ['A_B8_s0'] },
    { what: 'nothing where a name would be empty', names: ['lr0.1', 'lr0.1_s1'], short: ['lr0.1', 'lr0.1_s1'] },
    { what: 'nothing where two would be one', names: ['a_b', 'a-b'], short: ['a_b', 'a-b'] },
    { what: 'nothing where the order differs', names: ['a_b_c', 'b_a_c'], short: ['a_b_c', 'b_a_c'] },
    {
      what: 'no number from its word',
      names: ['amp-true_b1=0.9', 'amp-false_b1=0.9', 'amp-false_b1=0.99'],
      short: ['amp-true_b1=0.9', 'amp-false_b1=0.9', 'amp-false_b1=0.99'],
    },
    {
      what: 'hashes that nothing needs',
      names: ['lr0.1_1a2b3c4d', 'lr0.2_00ffee11'],
      short: ['lr0.1', 'lr0.2'],
    },
    {
      what: 'no hash that tells two apart',
      names: ['lr0.1_1a2b3c4d', 'lr0.1_00ffee11'],
      short: ['1a2b3c4d', '00ffee11'],
    },
    {
      what: 'the parts of paths',
      names: models.map((model) => `s0_model-${model}`),
      short: ['s0_unsloth', ...llamas.map((model) => `s0${model}`)].map((name) => name.replace(/^s0[_/]/, '')),
    },
  ])('leave out $what', ({ names, short }) => {
    expect(distinctNames(names)).toEqual(short);
  });

  it('are as different as the names were, and not empty', () => {
    const word = fc.constantFrom('a', 'b', 's0', 's1', '0.1', 'true', '', 'größe', '1a2b3c4d');
    const name = fc
      .array(fc.tuple(word, fc.constantFrom('_', '-', '/', '=')), { minLength: 1, maxLength: 5 })
      .map((parts) => parts.flat().join(''));
    fc.assert(
      fc.property(fc.uniqueArray(name, { minLength: 1, maxLength: 6 }), (names) => {
        const short = distinctNames(names);
        expect(new Set(short).size).toBe(names.length);
        expect(short).not.toContain('');
      }),
    );
  });
});

describe('a name in little room', () => {
  const names = ['s0', 's1'].flatMap((seed) => models.map((model) => `${seed}_model-${model}`));
  const labels = distinctNames(names);

  it('keeps the words that tell it from the others', () => {
    expect(labels.map((label) => fitDistinct(label, 18, labels).trimEnd())).toEqual([
      's0_unsloth',
      's0…Llama-3.2-1B…',
      's0…Llama-3.2-3B…',
      's0…Llama-3.1-8B…',
      's1_unsloth',
      's1…Llama-3.2-1B…',
      's1…Llama-3.2-3B…',
      's1…Llama-3.1-8B…',
    ]);
  });

  it('cuts a word that is too long by itself in its middle', () => {
    expect(fitDistinct('abcdefghijklmnop', 9, ['abcdefghijklmnop'])).toBe('abcd…mnop');
  });

  it('is exactly as wide as asked for', () => {
    fc.assert(
      fc.property(fc.constantFrom(...names, '模型甲_s0_長い名前'), fc.integer({ min: 0, max: 40 }), (name, width) => {
        expect(textWidth(fitDistinct(name, width, labels))).toBe(width);
      }),
    );
  });
});
