import { describe, expect, it } from 'vitest';
import { exceededLimit } from '../../../src/analysis/health/limits.js';

/** Columns of a run; their x is the row, from 1 on. */
function said(columns: Readonly<Record<string, readonly number[]>>): string | null {
  const seriesOf = (name: string) => ({ x: (columns[name] ?? []).map((_, row) => row + 1), y: columns[name] ?? [] });
  return exceededLimit(Object.keys(columns), seriesOf)?.reason ?? null;
}

describe('a limit that a program declares for a metric', () => {
  it.each<{ when: string; columns: Record<string, number[]>; words: string | null }>([
    { when: 'kept', columns: { kl: [0, 0.01], 'limit/kl': [0.01, 0.01] }, words: null },
    {
      when: 'exceeded for a moment',
      columns: { kl: [0, 2.51, 0], 'limit/kl': [0.01, 0.01] },
      words: 'kl was 2.51 at step 2, limit 0.01',
    },
    {
      when: 'exceeded below zero',
      columns: { kl: [0, -0.5, 0.2], 'limit/kl': [0.01] },
      words: 'kl was -0.500 at step 2, limit 0.01',
    },
    {
      when: 'exceeded by several metrics',
      columns: { a: [3], b: [9], 'limit/a': [1], 'limit/b': [8] },
      words: 'a was 3 at step 1, limit 1',
    },
    { when: 'of a metric that is not there', columns: { 'limit/kl': [0.01] }, words: null },
    { when: 'that changes', columns: { kl: [5, 5], 'limit/kl': [1, 9] }, words: null },
    { when: 'that is not a number', columns: { kl: [5], 'limit/kl': [Number.NaN] }, words: null },
    { when: 'of a metric that was NaN', columns: { kl: [Number.NaN, 0], 'limit/kl': [1] }, words: null },
  ])('$when: $words', ({ columns, words }) => {
    expect(said(columns)).toBe(words);
  });
});
