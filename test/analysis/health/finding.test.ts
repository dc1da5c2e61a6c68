import { describe, expect, it } from 'vitest';
import { healthOf, healthText } from '../../../src/analysis/health/finding.js';
import { ailments } from '../../../src/base/run-words.js';

describe('the word for a run', () => {
  it('is ok where nothing was found', () => {
    expect(healthOf([])).toEqual({ word: 'ok', reason: null });
  });

  it.each(ailments.slice(1).map((word, place) => [ailments[place]!, word] as const))(
    '%s comes before %s',
    (first, later) => {
      const found = healthOf([
        { word: later, reason: 'b' },
        { word: first, reason: 'a' },
      ]);
      expect(found).toEqual({ word: first, reason: `a; ${later}: b` });
    },
  );
});

describe('the text for a row', () => {
  it.each([
    { run: { health: 'ok', healthReason: null } as const, text: null },
    { run: { health: 'nan', healthReason: 'loss is not a number' } as const, text: 'NaN: loss is not a number' },
    { run: { health: 'silent' } as const, text: 'silent' },
  ])('is $text', ({ run, text }) => {
    expect(healthText(run)).toBe(text);
  });
});
