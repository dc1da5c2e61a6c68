import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { completionList } from '../../../src/tui/dialogs/filter.js';
import { lineWidth, plainText } from '../../../src/tui/surface/span.js';

describe('what the filter can go on with', () => {
  const size = { width: 40, height: 10 };
  const offer = (candidates: string[], chosen: number | null = null) => ({ from: 0, candidates, chosen });

  it('stands right above the prompt, at the word it belongs to', () => {
    const list = completionList(offer(['status', 'state'], 1), size, { column: 5, below: 2 })!;
    expect({ left: list.left, top: list.top }).toEqual({ left: 4, top: 6 });
    expect(list.lines.map((line) => plainText(line).trimEnd())).toEqual([' status', ' state']);
  });

  it('moves to the left where it would leave the screen, and counts what it has no room for', () => {
    const many = Array.from({ length: 30 }, (_, at) => `candidate ${at}`);
    const list = completionList(offer(many, 29), size, { column: 39, below: 1 })!;
    expect(plainText(list.lines.at(-1)!).trimEnd()).toMatch(/candidate 29 \+22$/);
    expect(list.lines).toHaveLength(8);
    expect(list.left + list.width).toBe(40);
  });

  it('stays on the screen, whatever the words are', () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ unit: 'binary', maxLength: 90 }), { maxLength: 20 }),
        fc.nat(60),
        fc.integer({ min: 1, max: 3 }),
        fc.nat(19),
        (candidates, column, below, chosen) => {
          const at = candidates.length === 0 ? null : chosen % candidates.length;
          const list = completionList(offer(candidates, at), size, { column, below });
          if (list === null) return;
          expect(list.lines.map(lineWidth)).toEqual(list.lines.map(() => list.width));
          expect(list.left >= 0 && list.left + list.width <= 40 && list.top >= 0).toBe(true);
          expect(list.top + list.lines.length).toBe(10 - below);
        },
      ),
    );
  });
});
