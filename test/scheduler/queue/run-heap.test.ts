import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Rank, RunHeap } from '../../../src/scheduler/queue/run-heap.js';
import { id } from '../play.js';

describe('a heap of runs', () => {
  it('always has the lowest first, whatever was added, moved and taken out', () => {
    const change = fc.record({ run: fc.nat(30), rank: fc.option(fc.integer({ min: -5, max: 5 })) });
    fc.assert(
      fc.property(fc.array(change, { maxLength: 200 }), (changes) => {
        const heap = new RunHeap();
        const ranks = new Map<number, Rank>();
        for (const { run, rank } of changes) {
          if (rank === null) heap.delete(id(`r${run}`));
          else heap.set(id(`r${run}`), [rank, run]);
          if (rank === null) ranks.delete(run);
          else ranks.set(run, [rank, run]);
          const [lowest] = [...ranks].sort(([, a], [, b]) => a[0] - b[0] || a[1] - b[1]);
          expect(heap.first()).toBe(lowest === undefined ? null : id(`r${lowest[0]}`));
          expect(heap.firstRank()).toEqual(lowest?.[1] ?? null);
          expect(heap.size).toBe(ranks.size);
        }
      }),
    );
  });

  it('gives everything back in order', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.nat(1000)), (orders) => {
        const heap = new RunHeap();
        for (const order of orders) heap.set(id(`r${order}`), [0, order]);
        const given: string[] = [];
        for (let first = heap.first(); first !== null; first = heap.first()) {
          given.push(first);
          heap.delete(first);
        }
        expect(given).toEqual([...orders].sort((a, b) => a - b).map((order) => id(`r${order}`)));
      }),
    );
  });
});
