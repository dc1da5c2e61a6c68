import type { Heap } from './heap.js';
import type { Kernels } from './kernels.js';

/** Index of key j's row: the shared rows come first, then the sequence's own. */
type RowOf = (j: number) => number;

function rowsAt(shared: number, sharedRows: number, own: number, kvRow: number): RowOf {
  return (j) => (j < sharedRows ? (shared >>> 2) + j * kvRow : (own >>> 2) + (j - sharedRows) * kvRow);
}

export function loopAttention(heap: Heap): Kernels['attention'] {
  return (
    heads,
    kvHeads,
    headWidth,
    queries,
    q,
    qRow,
    shared,
    sharedRows,
    own,
    ownBefore,
    kvRow,
    p,
    pRow,
    out,
    outRow,
    scale,
  ) => {
    const { f32 } = heap;
    const rowOf = rowsAt(shared, sharedRows, own, kvRow);
    for (let h = 0; h < heads; h++) {
      const key = Math.floor((h * kvHeads) / heads) * headWidth;
      const value = key + kvHeads * headWidth;
      for (let i = 0; i < queries; i++) {
        const count = sharedRows + ownBefore + i + 1;
        const at = (p >>> 2) + (h * queries + i) * pRow;
        const query = (q >>> 2) + i * qRow + h * headWidth;
        for (let j = 0; j < count; j++) f32[at + j] = scale * dot(f32, query, rowOf(j) + key, headWidth);
        softmax(f32, at, count);
        const result = (out >>> 2) + i * outRow + h * headWidth;
        f32.fill(0, result, result + headWidth);
        for (let j = 0; j < count; j++) addScaled(f32, f32[at + j]!, rowOf(j) + value, result, headWidth);
      }
    }
  };
}

export function loopAttentionBackward(heap: Heap): Kernels['attentionBackward'] {
  return (
    heads,
    kvHeads,
    headWidth,
    queries,
    q,
    qRow,
    shared,
    sharedRows,
    own,
    kvRow,
    p,
    pRow,
    dOut,
    outRow,
    dq,
    dShared,
    dOwn,
    scale,
    scratch,
  ) => {
    const { f32 } = heap;
    const rowOf = rowsAt(shared, sharedRows, own, kvRow);
    const dRowOf = rowsAt(dShared, sharedRows, dOwn, kvRow);
    const dp = scratch >>> 2;
    for (let h = 0; h < heads; h++) {
      const key = Math.floor((h * kvHeads) / heads) * headWidth;
      const value = key + kvHeads * headWidth;
      for (let i = 0; i < queries; i++) {
        const count = sharedRows + i + 1;
        const at = (p >>> 2) + (h * queries + i) * pRow;
        const dResult = (dOut >>> 2) + i * outRow + h * headWidth;
        let mean = 0;
        for (let j = 0; j < count; j++) {
          addScaled(f32, f32[at + j]!, dResult, dRowOf(j) + value, headWidth);
          f32[dp + j] = dot(f32, dResult, rowOf(j) + value, headWidth);
          mean += f32[at + j]! * f32[dp + j]!;
        }
        const head = i * qRow + h * headWidth;
        for (let j = 0; j < count; j++) {
          const slope = f32[at + j]! * (f32[dp + j]! - mean) * scale;
          addScaled(f32, slope, rowOf(j) + key, (dq >>> 2) + head, headWidth);
          addScaled(f32, slope, (q >>> 2) + head, dRowOf(j) + key, headWidth);
        }
      }
    }
  };
}

function dot(f32: Float32Array, a: number, b: number, count: number): number {
  let sum = 0;
  for (let d = 0; d < count; d++) sum += f32[a + d]! * f32[b + d]!;
  return sum;
}

function addScaled(f32: Float32Array, factor: number, from: number, to: number, count: number): void {
  for (let d = 0; d < count; d++) f32[to + d]! += factor * f32[from + d]!;
}

function softmax(f32: Float32Array, at: number, count: number): void {
  let top = -Infinity;
  for (let j = at; j < at + count; j++) top = Math.max(top, f32[j]!);
  let sum = 0;
  for (let j = at; j < at + count; j++) sum += f32[j] = Math.exp(f32[j]! - top);
  for (let j = at; j < at + count; j++) f32[j]! /= sum;
}
