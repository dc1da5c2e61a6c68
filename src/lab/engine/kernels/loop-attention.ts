import type { Heap } from './heap.js';
import type { Kernels } from './kernels.js';
import { type AttentionShape, readAttentionShape, readSpans, type Span } from './records.js';

/** Places of a span's rows, in floats, for both directions. */
function placesOf({ kvHeads, headWidth, heads, qRow, kvRow, outRow }: AttentionShape, span: Span) {
  const { queries, row, shared, sharedRows, own, p, pRow } = span;
  return {
    /** Start of the row of key j: the shared rows come first, then the sequence's own. */
    keyRow: (j: number) => (j < sharedRows ? shared + j : own + j - sharedRows) * kvRow,
    /** Offset, within a row of keys, of the head that query head h reads. */
    keyOf: (h: number) => Math.floor((h * kvHeads) / heads) * headWidth,
    values: kvHeads * headWidth,
    query: (h: number, i: number) => (row + i) * qRow + h * headWidth,
    result: (h: number, i: number) => (row + i) * outRow + h * headWidth,
    probabilities: (h: number, i: number) => p + (h * queries + i) * pRow,
  };
}

export function loopAppendKeys(heap: Heap): Kernels['appendKeys'] {
  return (shape, spans, count, from, keys) => {
    const { f32 } = heap;
    const { qRow, kvRow } = readAttentionShape(heap, shape);
    for (const { queries, row, own, ownBefore } of readSpans(heap, spans, count)) {
      for (let i = 0; i < queries; i++) {
        const source = (from >>> 2) + (row + i) * qRow;
        f32.copyWithin((keys >>> 2) + (own + ownBefore + i) * kvRow, source, source + kvRow);
      }
    }
  };
}

export function loopGatherProbabilities(heap: Heap): Kernels['gatherProbabilities'] {
  return (heads, spans, count, rows, places, from, to) => {
    const { f32, i32 } = heap;
    for (const { queries, row, sharedRows, ownBefore, p, pRow } of readSpans(heap, spans, count)) {
      for (let i = 0; i < queries; i++) {
        const place = (places >>> 2) + 2 * i32[(rows >>> 2) + row + i]!;
        for (let h = 0; h < heads; h++) {
          const source = (from >>> 2) + i32[place]! + h * i32[place + 1]!;
          const target = (to >>> 2) + p + (h * queries + i) * pRow;
          f32.copyWithin(target, source, source + sharedRows + ownBefore + i + 1);
        }
      }
    }
  };
}

export function loopAttention(heap: Heap): Kernels['attention'] {
  return (shapeAt, spans, count, q, keys, p, out) => {
    const { f32 } = heap;
    const shape = readAttentionShape(heap, shapeAt);
    const { heads, headWidth, scale } = shape;
    for (const span of readSpans(heap, spans, count)) {
      const { keyRow, keyOf, values, query, result, probabilities } = placesOf(shape, span);
      const rowOf = (j: number) => (keys >>> 2) + keyRow(j);
      for (let h = 0; h < heads; h++) {
        for (let i = 0; i < span.queries; i++) {
          const seen = span.sharedRows + span.ownBefore + i + 1;
          const at = (p >>> 2) + probabilities(h, i);
          const asked = (q >>> 2) + query(h, i);
          for (let j = 0; j < seen; j++) f32[at + j] = scale * dot(f32, asked, rowOf(j) + keyOf(h), headWidth);
          softmax(f32, at, seen);
          const to = (out >>> 2) + result(h, i);
          f32.fill(0, to, to + headWidth);
          for (let j = 0; j < seen; j++) addScaled(f32, f32[at + j]!, rowOf(j) + values + keyOf(h), to, headWidth);
        }
      }
    }
  };
}

export function loopAttentionBackward(heap: Heap): Kernels['attentionBackward'] {
  return (shapeAt, spans, count, q, keys, p, dOut, dq, dKeys, scratch) => {
    const { f32 } = heap;
    const shape = readAttentionShape(heap, shapeAt);
    const { heads, headWidth, scale } = shape;
    const dp = scratch >>> 2;
    for (const span of readSpans(heap, spans, count)) {
      const { keyRow, keyOf, values, query, result, probabilities } = placesOf(shape, span);
      const rowOf = (j: number) => (keys >>> 2) + keyRow(j);
      const dRowOf = (j: number) => (dKeys >>> 2) + keyRow(j);
      for (let h = 0; h < heads; h++) {
        const value = values + keyOf(h);
        for (let i = 0; i < span.queries; i++) {
          const seen = span.sharedRows + i + 1;
          const at = (p >>> 2) + probabilities(h, i);
          const dResult = (dOut >>> 2) + result(h, i);
          let mean = 0;
          for (let j = 0; j < seen; j++) {
            addScaled(f32, f32[at + j]!, dResult, dRowOf(j) + value, headWidth);
            f32[dp + j] = dot(f32, dResult, rowOf(j) + value, headWidth);
            mean += f32[at + j]! * f32[dp + j]!;
          }
          for (let j = 0; j < seen; j++) {
            const slope = f32[at + j]! * (f32[dp + j]! - mean) * scale;
            addScaled(f32, slope, rowOf(j) + keyOf(h), (dq >>> 2) + query(h, i), headWidth);
            addScaled(f32, slope, (q >>> 2) + query(h, i), dRowOf(j) + keyOf(h), headWidth);
          }
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
