import type { Heap } from './heap.js';
import type { Kernels } from './kernels.js';

export function loopLogSoftmax(heap: Heap): Kernels['logSoftmax'] {
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

export function loopLogSoftmaxBackward(heap: Heap): Kernels['logSoftmaxBackward'] {
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

export function loopSample(heap: Heap): Kernels['sample'] {
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

function largest(f32: Float32Array, from: number, count: number): number {
  let top = -Infinity;
  for (let j = from; j < from + count; j++) top = Math.max(top, f32[j]!);
  return top;
}
