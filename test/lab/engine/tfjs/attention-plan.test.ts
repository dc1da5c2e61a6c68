import { describe, expect, it } from 'vitest';
import type { ModelShape } from '../../../../src/lab/engine/engine.js';
import { presets } from '../../../../src/lab/engine/model-shape.js';
import { blocksOf, gradientPlaces, resultPlaces } from '../../../../src/lab/engine/tfjs/attention-plan.js';

/** One head, one key head: a row is three vectors, its query, its key and its value. */
const shape: ModelShape = { ...presets.micro, width: 4, heads: 1, kvHeads: 1 };

// A prompt of two rows, and a continuation of one that sees them too.
const prompt = { row: 0, rows: 2, keys: [0, 1] };
const continuation = { row: 2, rows: 1, keys: [0, 1, 2] };

describe('the plan of attention', () => {
  it('puts small readers into one block, padded to the longest', () => {
    const [block, ...others] = blocksOf(shape, [[prompt], [continuation]]);
    expect(others).toEqual([]);
    expect([block!.queries, block!.keys, block!.isPadded]).toEqual([2, 3, true]);
    expect([...block!.queryIds]).toEqual([0, 3, 6, 0]);
    expect([...block!.keyIds]).toEqual([1, 4, 0, 1, 4, 7]);
    expect([...block!.valueIds]).toEqual([2, 5, 0, 2, 5, 8]);
    expect([...block!.limits]).toEqual([0, 1, 2, -1]);
    expect([...resultPlaces(shape, 3, [block!])]).toEqual([0, 1, 2]);
  });

  it('keeps readers of very different lengths in different blocks, so that a long prompt does not pad every continuation', () => {
    const rows = (first: number, count: number) => Array.from({ length: count }, (_, i) => first + i);
    const long = { row: 0, rows: 300, keys: rows(0, 300) };
    const short = rows(300, 50).map((row) => ({ row, rows: 1, keys: [...rows(0, 300), row] }));
    const blocks = blocksOf(shape, [[long], short]);
    expect(blocks.map(({ readers, queries, keys }) => [readers.length, queries, keys])).toEqual([
      [1, 300, 300],
      [50, 1, 301],
    ]);
    expect([...resultPlaces(shape, 350, blocks)]).toEqual(rows(0, 350));
  });

  it('maps each derivative back to its row, and sums those of a row with several readers', () => {
    const blocks = blocksOf(shape, [[prompt], [continuation]]);
    const { places, sums } = gradientPlaces(shape, 3, blocks);
    // Four places of queries, six of keys, six of values, the zero at 16, and then the sums: key and value of rows 0 and 1.
    expect([...places]).toEqual([0, 17, 18, 1, 19, 20, 2, 9, 15]);
    expect(sums!.terms).toBe(2);
    expect([...sums!.ids]).toEqual([4, 7, 10, 13, 5, 8, 11, 14]);
  });

  it('needs no sums when no row is shared', () => {
    const { places, sums } = gradientPlaces(shape, 2, blocksOf(shape, [[prompt]]));
    expect(sums).toBeNull();
    expect([...places]).toEqual([0, 2, 4, 1, 3, 5]);
  });
});
