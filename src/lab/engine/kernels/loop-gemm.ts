import type { Heap } from './heap.js';
import type { Kernels } from './kernels.js';
import { readOuterProduct, readProduct } from './records.js';

/** Computes one panel at a time, with sums in double precision. */
export function loopGemm(heap: Heap): Kernels['gemm'] {
  return (product, rows, a, c, accumulate) => {
    const { f32 } = heap;
    const { columns, depth, aRow, aDepth, b, bRow, bPanel, cRow } = readProduct(heap, product);
    const sums = new Float64Array(8);
    for (let n = 0; n < columns; n += 8) {
      const panel = (b >>> 2) + (n / 8) * bPanel;
      const width = Math.min(8, columns - n);
      for (let i = 0; i < rows; i++) {
        rowTimesPanel(f32, depth, (a >>> 2) + i * aRow, aDepth, panel, bRow, sums);
        const row = (c >>> 2) + i * cRow + n;
        for (let j = 0; j < width; j++) f32[row + j] = accumulate ? f32[row + j]! + sums[j]! : sums[j]!;
      }
    }
  };
}

/** Computed as a product whose left factor is transposed. */
export function loopAddProduct(heap: Heap): Kernels['addProduct'] {
  return (outer, rows, left, right, target) => {
    const { f32 } = heap;
    const { leftWidth, leftRow, rightWidth } = readOuterProduct(heap, outer);
    const sums = new Float64Array(8);
    for (let n = 0; n < rightWidth; n += 8) {
      const width = Math.min(8, rightWidth - n);
      for (let i = 0; i < leftWidth; i++) {
        rowTimesPanel(f32, rows, (left >>> 2) + i, leftRow, (right >>> 2) + n, rightWidth, sums);
        const row = (target >>> 2) + i * rightWidth + n;
        for (let j = 0; j < width; j++) f32[row + j]! += sums[j]!;
      }
    }
  };
}

/** Eight sums by name, not in a loop: the compiler keeps them in registers, which is three times as fast. */
function rowTimesPanel(
  f32: Float32Array,
  depth: number,
  a: number,
  aDepth: number,
  b: number,
  bRow: number,
  sums: Float64Array,
): void {
  let s0 = 0;
  let s1 = 0;
  let s2 = 0;
  let s3 = 0;
  let s4 = 0;
  let s5 = 0;
  let s6 = 0;
  let s7 = 0;
  for (let k = 0; k < depth; k++) {
    const x = f32[a]!;
    s0 += x * f32[b]!;
    s1 += x * f32[b + 1]!;
    s2 += x * f32[b + 2]!;
    s3 += x * f32[b + 3]!;
    s4 += x * f32[b + 4]!;
    s5 += x * f32[b + 5]!;
    s6 += x * f32[b + 6]!;
    s7 += x * f32[b + 7]!;
    a += aDepth;
    b += bRow;
  }
  sums[0] = s0;
  sums[1] = s1;
  sums[2] = s2;
  sums[3] = s3;
  sums[4] = s4;
  sums[5] = s5;
  sums[6] = s6;
  sums[7] = s7;
}

export function loopPackRows(heap: Heap): Kernels['packRows'] {
  return (depth, columns, from, stride, to) => {
    pack(heap.f32, depth, columns, to >>> 2, (k, n) => (from >>> 2) + k * stride + n);
  };
}

export function loopPackColumns(heap: Heap): Kernels['packColumns'] {
  return (depth, columns, from, stride, to) => {
    pack(heap.f32, depth, columns, to >>> 2, (k, n) => (from >>> 2) + n * stride + k);
  };
}

/** Writes panels of 8 columns, each [depth × 8]; missing columns are zeros. `source` gives the index of B[k, n]. */
function pack(
  f32: Float32Array,
  depth: number,
  columns: number,
  to: number,
  source: (k: number, n: number) => number,
): void {
  for (let n = 0; n < columns; n += 8) {
    for (let k = 0; k < depth; k++) {
      for (let j = n; j < n + 8; j++) f32[to++] = j < columns ? f32[source(k, j)]! : 0;
    }
  }
}
