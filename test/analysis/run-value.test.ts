import { describe, expect, it } from 'vitest';
import { bestPlace, parseRunValue, type RunValue, runValue, runValueText } from '../../src/analysis/run-value.js';

const curve = { x: [0, 10, 30, 40], y: [4, 2, 1, 3] };
const broken = { x: [0, 10, 20], y: [5, 3, Number.NaN] };
const empty = { x: [], y: [] };

describe('what stands for a run', () => {
  it.each<{ which: RunValue; of: typeof curve; value: number | null }>([
    { which: { kind: 'last' }, of: curve, value: 3 },
    { which: { kind: 'last' }, of: broken, value: Number.NaN },
    { which: { kind: 'last' }, of: empty, value: null },
    { which: { kind: 'min' }, of: curve, value: 1 },
    { which: { kind: 'max' }, of: curve, value: 4 },
    { which: { kind: 'min' }, of: broken, value: 3 },
    { which: { kind: 'max' }, of: { x: [0], y: [Infinity] }, value: Infinity },
    { which: { kind: 'at', x: 10 }, of: curve, value: 2 },
    { which: { kind: 'at', x: 29.5 }, of: curve, value: 2 },
    { which: { kind: 'at', x: 40 }, of: curve, value: 3 },
    // It never came so far, or began later.
    { which: { kind: 'at', x: 41 }, of: curve, value: null },
    { which: { kind: 'at', x: -1 }, of: curve, value: null },
    { which: { kind: 'mean', of: 2 }, of: curve, value: 2 },
    { which: { kind: 'mean', of: 100 }, of: curve, value: 2.5 },
    { which: { kind: 'mean', of: 2 }, of: broken, value: Number.NaN },
    // (3 · 10 + 1.5 · 20 + 2 · 10) / 40
    { which: { kind: 'auc' }, of: curve, value: 2 },
    { which: { kind: 'auc' }, of: { x: [7], y: [6] }, value: 6 },
    { which: { kind: 'auc' }, of: broken, value: Number.NaN },
  ])('$which of $of.y over $of.x', ({ which, of, value }) => {
    expect(runValue(of, which)).toBe(value);
  });

  it('is, as the best, the value where the objective is best', () => {
    const best: RunValue = { kind: 'best', objective: 'val', goal: 'minimize' };
    const place = bestPlace({ x: [0, 10, 20, 30], y: [Number.NaN, 1, 0.5, 0.5] }, 'minimize');
    expect(place).toBe(20);
    expect(bestPlace({ x: [0, 10], y: [1, 2] }, 'maximize')).toBe(10);
    expect(bestPlace({ x: [0], y: [Number.NaN] }, 'maximize')).toBeNull();
    expect(runValue(curve, best, place)).toBe(2);
    expect(runValue(curve, best, null)).toBeNull();
  });

  it.each([
    ['last', { kind: 'last' }],
    ['best', 'best'],
    ['at=1e3', { kind: 'at', x: 1000 }],
    ['at=-5', { kind: 'at', x: -5 }],
    ['mean=10', { kind: 'mean', of: 10 }],
    ['auc', { kind: 'auc' }],
    ...['', 'at=', 'at=x', 'mean=0', 'mean=1.5', 'mean=-1', 'median', 'best=loss', 'last '].map(
      (text) => [text, null] as const,
    ),
  ] as const)('is read from "%s"', (text, value) => {
    expect(parseRunValue(text)).toEqual(value);
  });

  it('is said in words', () => {
    expect(runValueText({ kind: 'best', objective: 'val', goal: 'maximize' })).toBe('values where val is highest');
    expect(runValueText({ kind: 'mean', of: 10 })).toBe('means of the last 10 values');
  });
});
