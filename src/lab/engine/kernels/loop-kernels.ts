import { Heap } from './heap.js';
import type { Kernels } from './kernels.js';
import { loopAppendKeys, loopAttention, loopAttentionBackward, loopGatherProbabilities } from './loop-attention.js';
import { readAdamSettings, readOuterProduct, readProduct, readRotation } from './records.js';

/**
 * The kernels as plain loops over typed arrays: the reference for tests of the WebAssembly ones, and the fallback
 * where those cannot run. About twenty times slower. Written to be read: each says in scalars what its SIMD twin says
 * in vectors.
 *
 * @param precision With `double` all numbers are 64-bit floats, those of the engine's results too: small differences
 * of weights can be seen.
 */
export function loopKernels(precision: 'single' | 'double' = 'single'): Kernels {
  const heap = new Heap({ isDouble: precision === 'double' });
  return {
    backend: precision === 'double' ? 'float64' : 'loops',
    heap,
    fresh: async () => loopKernels(precision),
    gemm: loopGemm(heap),
    addProduct: loopAddProduct(heap),
    packRows: loopPackRows(heap),
    packColumns: loopPackColumns(heap),
    appendKeys: loopAppendKeys(heap),
    attention: loopAttention(heap),
    gatherProbabilities: loopGatherProbabilities(heap),
    attentionBackward: loopAttentionBackward(heap),
    logSoftmax: loopLogSoftmax(heap),
    logSoftmaxBackward: loopLogSoftmaxBackward(heap),
    sample: loopSample(heap),
    keepLikeliest: loopKeepLikeliest(heap),
    ...rowLoops(heap),
    ...normLoops(heap),
    rope: ropeLoop(heap),
    ...swigluLoops(heap),
    adam: adamLoop(heap),
  };
}

type RowKernels = 'zero' | 'copy' | 'scale' | 'addScaled' | 'sumSquares' | 'gatherRows' | 'scatterAddRows';

function rowLoops(heap: Heap): Pick<Kernels, RowKernels> {
  return {
    zero: (count, at) => void heap.f32.fill(0, at >>> 2, (at >>> 2) + count),
    copy: (count, from, to) => void heap.f32.copyWithin(to >>> 2, from >>> 2, (from >>> 2) + count),
    scale(count, at, factor) {
      const { f32 } = heap;
      for (let j = at >>> 2; j < (at >>> 2) + count; j++) f32[j]! *= factor;
    },
    addScaled(count, factor, from, to) {
      const { f32 } = heap;
      for (let j = 0; j < count; j++) f32[(to >>> 2) + j]! += factor * f32[(from >>> 2) + j]!;
    },
    sumSquares(count, at) {
      const { f32 } = heap;
      let total = 0;
      for (let j = at >>> 2; j < (at >>> 2) + count; j++) total += f32[j]! * f32[j]!;
      return total;
    },
    gatherRows(rows, width, ids, table, to) {
      const { f32, i32 } = heap;
      for (let i = 0; i < rows; i++) {
        const from = (table >>> 2) + i32[(ids >>> 2) + i]! * width;
        f32.copyWithin((to >>> 2) + i * width, from, from + width);
      }
    },
    scatterAddRows(rows, width, ids, from, table) {
      const { f32, i32 } = heap;
      for (let i = 0; i < rows; i++) {
        const to = (table >>> 2) + i32[(ids >>> 2) + i]! * width;
        for (let j = 0; j < width; j++) f32[to + j]! += f32[(from >>> 2) + i * width + j]!;
      }
    },
  };
}

function normLoops(heap: Heap): Pick<Kernels, 'rmsNorm' | 'rmsNormBackward'> {
  return {
    rmsNorm(rows, width, x, w, y, scale, epsilon) {
      const { f32 } = heap;
      for (let i = 0; i < rows; i++) {
        const row = (x >>> 2) + i * width;
        let squares = 0;
        for (let j = 0; j < width; j++) squares += f32[row + j]! * f32[row + j]!;
        const s = 1 / Math.sqrt(squares / width + epsilon);
        f32[(scale >>> 2) + i] = s;
        for (let j = 0; j < width; j++) f32[(y >>> 2) + i * width + j] = f32[row + j]! * s * f32[(w >>> 2) + j]!;
      }
    },
    rmsNormBackward(rows, width, dy, x, w, scale, dx, dw) {
      const { f32 } = heap;
      for (let i = 0; i < rows; i++) {
        const s = f32[(scale >>> 2) + i]!;
        const at = i * width;
        let dot = 0;
        for (let j = 0; j < width; j++) {
          const normal = f32[(x >>> 2) + at + j]! * s;
          const slope = f32[(dy >>> 2) + at + j]!;
          f32[(dw >>> 2) + j]! += slope * normal;
          dot += slope * f32[(w >>> 2) + j]! * normal;
        }
        for (let j = 0; j < width; j++) {
          const normal = f32[(x >>> 2) + at + j]! * s;
          const inner = f32[(dy >>> 2) + at + j]! * f32[(w >>> 2) + j]! - (normal * dot) / width;
          f32[(dx >>> 2) + at + j]! += s * inner;
        }
      }
    },
  };
}

function ropeLoop(heap: Heap): Kernels['rope'] {
  return (rotation, rows, x, positions, direction) => {
    const { f32, i32 } = heap;
    const { heads, headWidth, row, cos, sin } = readRotation(heap, rotation);
    const half = headWidth / 2;
    for (let i = 0; i < rows; i++) {
      const angle = i32[(positions >>> 2) + i]! * half;
      for (let h = 0; h < heads; h++) {
        const head = (x >>> 2) + i * row + h * headWidth;
        for (let j = 0; j < half; j++) {
          const c = f32[(cos >>> 2) + angle + j]!;
          const s = f32[(sin >>> 2) + angle + j]! * direction;
          const a = f32[head + j]!;
          const b = f32[head + half + j]!;
          f32[head + j] = a * c - b * s;
          f32[head + half + j] = b * c + a * s;
        }
      }
    }
  };
}

function swigluLoops(heap: Heap): Pick<Kernels, 'swiglu' | 'swigluBackward'> {
  return {
    swiglu(rows, width, gateUp, y) {
      const { f32 } = heap;
      for (let i = 0; i < rows; i++) {
        const row = (gateUp >>> 2) + 2 * i * width;
        for (let j = 0; j < width; j++) {
          const gate = f32[row + j]!;
          f32[(y >>> 2) + i * width + j] = (gate * f32[row + width + j]!) / (1 + Math.exp(-gate));
        }
      }
    },
    swigluBackward(rows, width, dy, gateUp, dGateUp) {
      const { f32 } = heap;
      for (let i = 0; i < rows; i++) {
        const row = (gateUp >>> 2) + 2 * i * width;
        const out = (dGateUp >>> 2) + 2 * i * width;
        for (let j = 0; j < width; j++) {
          const gate = f32[row + j]!;
          const up = f32[row + width + j]!;
          const slope = f32[(dy >>> 2) + i * width + j]!;
          const sigmoid = 1 / (1 + Math.exp(-gate));
          f32[out + j] = slope * up * (sigmoid + gate * sigmoid * (1 - sigmoid));
          f32[out + width + j] = slope * gate * sigmoid;
        }
      }
    },
  };
}

function adamLoop(heap: Heap): Kernels['adam'] {
  return (count, weights, gradient, m, v, settings) => {
    const { f32 } = heap;
    const { step, fresh1, fresh2, epsilon } = readAdamSettings(heap, settings);
    let squares = 0;
    for (let j = 0; j < count; j++) {
      const g = f32[(gradient >>> 2) + j]!;
      squares += g * g;
      const m1 = (f32[(m >>> 2) + j]! += fresh1 * (g - f32[(m >>> 2) + j]!));
      const v1 = (f32[(v >>> 2) + j]! += fresh2 * (g * g - f32[(v >>> 2) + j]!));
      f32[(weights >>> 2) + j]! -= (step * m1) / (Math.sqrt(v1) + epsilon);
      f32[(gradient >>> 2) + j] = 0;
    }
    return squares;
  };
}

function loopLogSoftmax(heap: Heap): Kernels['logSoftmax'] {
  return (rows, vocabulary, stride, scores, entropies) => {
    const { f32 } = heap;
    for (let i = 0; i < rows; i++) {
      const row = (scores >>> 2) + i * stride;
      const top = largest(f32, row, vocabulary);
      let sum = 0;
      for (let j = row; j < row + vocabulary; j++) sum += Math.exp(f32[j]! - top);
      const log = Math.log(sum);
      let entropy = 0;
      for (let j = row; j < row + vocabulary; j++) {
        const logprob = (f32[j] = f32[j]! - top - log);
        entropy -= logprob * Math.exp(logprob);
      }
      f32.fill(-1e30, row + vocabulary, row + stride);
      f32[(entropies >>> 2) + i] = entropy;
    }
  };
}

function loopLogSoftmaxBackward(heap: Heap): Kernels['logSoftmaxBackward'] {
  return (rows, stride, logprobs, entropies, dLogprobs, dEntropies, dScores) => {
    const { f32 } = heap;
    for (let i = 0; i < rows; i++) {
      const entropy = f32[(entropies >>> 2) + i]!;
      const dLogprob = f32[(dLogprobs >>> 2) + i]!;
      const dEntropy = f32[(dEntropies >>> 2) + i]!;
      const row = (logprobs >>> 2) + i * stride;
      const out = (dScores >>> 2) + i * stride;
      for (let j = 0; j < stride; j++) {
        const logprob = f32[row + j]!;
        f32[out + j] = -Math.exp(logprob) * (dLogprob + dEntropy * (logprob + entropy));
      }
    }
  };
}

function loopSample(heap: Heap): Kernels['sample'] {
  return (vocabulary, stride, logprobs, uniform, inverseTemperature, scratch) => {
    const { f32 } = heap;
    const row = logprobs >>> 2;
    const weights = scratch >>> 2;
    const top = largest(f32, row, vocabulary);
    if (inverseTemperature === Infinity) return f32.subarray(row, row + vocabulary).indexOf(top);
    let sum = 0;
    for (let j = 0; j < vocabulary; j++) {
      sum += f32[weights + j] = Math.exp((f32[row + j]! - top) * inverseTemperature);
    }
    let running = 0;
    let last = 0;
    for (let j = 0; j < vocabulary && running <= uniform * sum; j++) {
      if (f32[weights + j]! === 0) continue;
      last = j;
      running += f32[weights + j]!;
    }
    return last;
  };
}

function loopKeepLikeliest(heap: Heap): Kernels['keepLikeliest'] {
  return (stride, logprobs, most, share) => {
    const row = heap.f32.subarray(logprobs >>> 2, (logprobs >>> 2) + stride);
    const p = row.map(Math.exp).sort().reverse();
    const ranks = Math.min(most, stride);
    const atLeast = p[ranks - 1]!;
    const goal = share * p.reduce((sum, x) => (x >= atLeast ? sum + x : sum), 0);
    let running = 0;
    let last = 0;
    for (; last < stride - 1 && p[last]! >= atLeast; last++) if ((running += p[last]!) >= goal) break;
    const least = share < 1 ? Math.max(atLeast, p[last]!) : atLeast;
    const log = Math.log(p.reduce((sum, x) => (x >= least ? sum + x : sum), 0));
    row.forEach((logprob, j) => (row[j] = Math.fround(Math.exp(logprob)) < least ? -1e30 : logprob - log));
  };
}

function largest(f32: Float32Array, from: number, count: number): number {
  let top = -Infinity;
  for (let j = from; j < from + count; j++) top = Math.max(top, f32[j]!);
  return top;
}

/** Computes one panel at a time, with sums in double precision. */
function loopGemm(heap: Heap): Kernels['gemm'] {
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
function loopAddProduct(heap: Heap): Kernels['addProduct'] {
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

function loopPackRows(heap: Heap): Kernels['packRows'] {
  return (depth, columns, from, stride, to) => {
    pack(heap.f32, depth, columns, to >>> 2, (k, n) => (from >>> 2) + k * stride + n);
  };
}

function loopPackColumns(heap: Heap): Kernels['packColumns'] {
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
