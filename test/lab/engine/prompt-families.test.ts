import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { passes, plan, type FamilyRows } from '../../../src/lab/engine/model/generation.js';

type Sequence = { readonly prompt: Int32Array; readonly room: number; readonly id: number };

// Few tokens, so that prompts are often the same or begin alike; each four times, so that they count.
const prompt = fc
  .array(fc.nat(1), { minLength: 1, maxLength: 3 })
  .map((tokens) => Int32Array.from(tokens.flatMap((token) => [token, token, token, token])));
const sequences: fc.Arbitrary<Sequence[]> = fc
  .array(fc.record({ prompt, room: fc.integer({ min: 1, max: 9 }) }), { minLength: 1, maxLength: 40 })
  .map((all) => all.map((each, id) => ({ ...each, id })));
const bound = fc.constantFrom(1, 40, 120, 10_000);

/** Rows of the cache that a family has, each as [first, number]. */
function rowsOf({ prompt, row, own, sequences: all }: FamilyRows<Sequence>): [number, number][] {
  return [[row, prompt.length], ...own.map((first, index): [number, number] => [first, all[index]!.room - 1])];
}

describe('the plan of sequences that are generated together', () => {
  it('has every sequence once, beside its prompt, and each prompt once per wave', () => {
    fc.assert(
      fc.property(sequences, bound, (all, most) => {
        const waves = plan(all, { perRow: 1, perSequence: 3, most });
        const seen = waves.flatMap(({ families }) =>
          families.flatMap(({ sequences: some }) => some.map(({ id }) => id)),
        );
        expect(seen.toSorted((a, b) => a - b)).toEqual(all.map(({ id }) => id));
        for (const { families } of waves) {
          expect(new Set(families.map(({ prompt }) => prompt.join())).size).toBe(families.length);
          for (const { prompt, sequences: some } of families) {
            for (const sequence of some) expect(sequence.prompt).toEqual(prompt);
          }
        }
      }),
    );
  });

  it('gives every sequence cache rows of its own, and leaves no row unused', () => {
    fc.assert(
      fc.property(sequences, bound, (all, most) => {
        for (const { families, rows } of plan(all, { perRow: 1, perSequence: 3, most })) {
          const owners = new Uint8Array(rows);
          for (const [first, count] of families.flatMap(rowsOf)) {
            for (let row = first; row < first + count; row++) owners[row]!++;
          }
          expect(owners.every((count) => count === 1)).toBe(true);
        }
      }),
    );
  });

  it('copies the whole prefix shared with the prompt before, and computes at least the last token', () => {
    fc.assert(
      fc.property(sequences, bound, (all, most) => {
        for (const { families } of plan(all, { perRow: 1, perSequence: 3, most })) {
          families.forEach(({ prompt, common, copyOf }, index) => {
            const before = families[index - 1];
            if (before === undefined) return expect(common).toBe(0);
            expect(copyOf).toBe(before.row);
            expect(before.prompt.slice(0, common)).toEqual(prompt.slice(0, common));
            const isAll = common < prompt.length && before.prompt[common] !== prompt[common];
            return expect(isAll).toBe(true);
          });
        }
      }),
    );
  });

  it('keeps each wave within its limit, except for a single sequence, and starts no unneeded wave', () => {
    fc.assert(
      fc.property(sequences, bound, (all, most) => {
        const waves = plan(all, { perRow: 1, perSequence: 3, most });
        const costs = waves.map(({ families }) =>
          families.reduce(
            (sum, { prompt, sequences: some }) =>
              sum + prompt.length + some.reduce((own, { room }) => own + room + 3, 0),
            0,
          ),
        );
        waves.forEach(({ families }, index) => {
          const isSingle = families.length === 1 && families[0]!.sequences.length === 1;
          expect(costs[index]! <= most || isSingle).toBe(true);
          const next = waves[index + 1]?.families[0];
          if (next === undefined) return;
          const isSame = families.at(-1)!.prompt.join() === next.prompt.join();
          const added = next.sequences[0]!.room + 3 + (isSame ? 0 : next.prompt.length);
          expect(costs[index]! + added).toBeGreaterThan(most);
        });
      }),
      { numRuns: 1000 },
    );
  });

  it('computes prompts in passes of a limited number of tokens, in order, and a longer one alone', () => {
    fc.assert(
      fc.property(sequences, fc.integer({ min: 1, max: 30 }), (all, rows) => {
        const { families } = plan(all, { perRow: 1, perSequence: 3, most: 10_000 })[0]!;
        const cut = passes(families, rows);
        expect(cut.flat()).toEqual(families);
        const unseen = ({ prompt, common }: FamilyRows<Sequence>) => prompt.length - common;
        cut.forEach((pass, index) => {
          const computed = pass.reduce((sum, family) => sum + unseen(family), 0);
          expect(computed <= rows || pass.length === 1).toBe(true);
          const next = cut[index + 1];
          if (next !== undefined) expect(computed + unseen(next[0]!)).toBeGreaterThan(rows);
        });
      }),
    );
  });
});
