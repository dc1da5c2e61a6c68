import type { Heap } from './heap.js';
import type { Kernels } from './kernels.js';

/** Eight columns at a time, because a panel of B is eight columns; sums in double precision. */
export function loopGemm(heap: Heap): Kernels['gemm'] {
  return (rows, columns, depth, a, aRow, aDepth, b, bRow, bPanel, c, cRow, accumulate) => {
    const { f32 } = heap;
    for (let n = 0; n < columns; n += 8) {
      const panel = (b >>> 2) + (n / 8) * bPanel;
      const width = Math.min(8, columns - n);
      for (let i = 0; i < rows; i++) {
        const row = (c >>> 2) + i * cRow + n;
        for (let j = 0; j < width; j++) {
          let sum = accumulate ? f32[row + j]! : 0;
          let ak = (a >>> 2) + i * aRow;
          let bk = panel + j;
          for (let k = 0; k < depth; k++, ak += aDepth, bk += bRow) sum += f32[ak]! * f32[bk]!;
          f32[row + j] = sum;
        }
      }
    }
  };
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
