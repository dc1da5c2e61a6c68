import { describe, expect, it } from 'vitest';
import { formatRecords, type FormatData } from '../../../../src/lab/environments/memory/warmup-answers.js';
import { pythonRandom } from '../../../../src/lab/python-random.js';

const single: FormatData = {
  kind: 'single_step',
  sizes: [4, 16, 64, 256],
  minExamples: 800,
  examplesPerValue: 32,
  seed: 1337,
  format: 'decimal',
};
const multi: FormatData = {
  ...single,
  kind: 'multi_step',
  sizes: [4, 8, 16, 32, 64],
  minExamples: 500,
  examplesPerValue: 20,
};

describe('the shuffle of Python', () => {
  it('equals that of CPython', () => {
    const items = Array.from({ length: 10 }, (_, index) => index);
    pythonRandom(0).shuffle(items);
    expect(items).toEqual([7, 8, 1, 5, 3, 4, 2, 0, 9, 6]);
  });
});

describe('the examples of the format warm-up', () => {
  it.each([
    [
      single,
      11_840,
      { 4: [1, 1, 3, 0, 3, 1, 0, 2, 2, 1], 16: [10, 4, 15, 1, 9, 8, 8, 6], 64: [16, 51, 34, 19, 50, 9] },
    ],
    [multi, 3420, { 4: [0, 3, 0, 3, 3, 1], 64: [21, 20, 33, 33, 9, 62] }],
  ] as const)('are those of the source system, in its order: $kind', (data, count, first) => {
    const records = formatRecords(data);
    expect(records).toHaveLength(count);
    for (const [N, values] of Object.entries<readonly number[]>(first)) {
      const ofN = records.filter(({ metadata }) => metadata.N === Number(N)).slice(0, values.length);
      const said = ofN.map(({ metadata, messages }) => metadata.secret ?? Number(messages.at(-1)!.content));
      expect(said).toEqual(values);
    }
  });

  it('ask for the bits of a secret, one per turn', () => {
    const [record] = formatRecords({ ...multi, sizes: [16] });
    const { secret, secret_bits: bits, num_bits: k } = record!.metadata;
    expect({ bits, k }).toEqual({ bits: secret!.toString(2).padStart(4, '0'), k: 4 });
    const said = record!.messages.filter(({ role }) => role === 'assistant').map(({ content }) => content);
    expect(said.join('')).toBe(bits);
  });
});
