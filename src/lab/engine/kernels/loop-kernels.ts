import { Heap } from './heap.js';
import type { Kernels } from './kernels.js';
import { loopAppendKeys, loopAttention, loopAttentionBackward, loopGatherProbabilities } from './loop-attention.js';
import { readAdamSettings, readRotation } from './records.js';
import { loopAddProduct, loopGemm, loopPackColumns, loopPackRows } from './loop-gemm.js';

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
