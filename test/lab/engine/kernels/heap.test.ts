import { describe, expect, it } from 'vitest';
import { Heap } from '../../../../src/lab/engine/kernels/heap.js';
import { Cursor, Workspace } from '../../../../src/lab/engine/kernels/workspace.js';

describe('the heap', () => {
  it('allocates aligned, separate and zeroed memory, and grows', () => {
    const heap = new Heap();
    const blocks = [1, 16, 17, 1_000_000, 3].map((count) => ({ count, at: heap.allocate(count) }));
    for (const { at, count } of blocks) {
      expect(at % 64).toBe(0);
      expect(heap.f32.subarray(at / 4, at / 4 + count).every((value) => value === 0)).toBe(true);
    }
    blocks.slice(1).forEach(({ at }, i) => expect(at).toBeGreaterThanOrEqual(blocks[i]!.at + blocks[i]!.count * 4));
    expect(heap.f32.byteLength).toBeGreaterThanOrEqual(heap.used + 64);
  });

  it('keeps its contents when it grows', () => {
    const heap = new Heap();
    const at = heap.allocate(2);
    heap.f32[at / 4] = 7;
    heap.allocate(10_000_000);
    expect(heap.f32[at / 4]).toBe(7);
    expect(heap.i32.length).toBe(heap.f32.length);
  });

  it('leaves reserved memory alone', () => {
    const heap = new Heap();
    heap.skipTo(9_024);
    expect(heap.allocate(1)).toBeGreaterThanOrEqual(9_024);
  });

  it('throws when it is out of memory', () => {
    expect(() => new Heap().allocate(2 ** 31)).toThrow('need 8.0 GiB');
  });
});

describe('a workspace', () => {
  it('returns the same memory while it is large enough', () => {
    const heap = new Heap();
    const workspace = new Workspace(heap);
    const first = workspace.reserve(1000);
    const { used } = heap;
    expect(workspace.reserve(10)).toBe(first);
    expect(workspace.reserve(1000)).toBe(first);
    expect(heap.used).toBe(used);
  });

  it('grows in place when nothing was allocated after it, else moves', () => {
    const heap = new Heap();
    const workspace = new Workspace(heap);
    const first = workspace.reserve(1000);
    expect(workspace.reserve(1001)).toBe(first);
    const other = heap.allocate(16);
    const moved = workspace.reserve(5000);
    expect(moved).toBeGreaterThan(other);
    expect(heap.used).toBeGreaterThanOrEqual(moved + 5000 * 4);
  });

  it('stops growing after a few small increases in size', () => {
    const heap = new Heap();
    const workspace = new Workspace(heap);
    const moves = new Set<number>();
    for (let count = 100; count < 10_000; count += 10) {
      moves.add(workspace.reserve(count));
      heap.allocate(1);
    }
    expect(moves.size).toBeLessThan(14);
  });
});

describe('a cursor', () => {
  it('measures the size of a plan from address 0, and allocates alike elsewhere', () => {
    const take = (cursor: Cursor) => [3, 16, 100].map((count) => cursor.take(count));
    const measure = new Cursor(0);
    const offsets = take(measure);
    const real = new Cursor(6400);
    expect(take(real)).toEqual(offsets.map((offset) => offset + 6400));
    expect(real.taken).toBe(measure.taken);
    expect(measure.taken * 4).toBeGreaterThanOrEqual(offsets[2]! + 400);
  });
});
