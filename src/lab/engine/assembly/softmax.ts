import { Lanes } from './lanes';

/** A score no token can have; its probability is exactly 0. */
const NEVER: f32 = -1e30;

/**
 * Replaces each row of scores by natural log-probabilities and writes the row's entropy in nats.
 *
 * @param vocabulary Any number; the rest of a row, up to `stride` (a multiple of 4), is padding and gets −1e30 or less.
 */
export function logSoftmax(rows: i32, vocabulary: i32, stride: i32, scores: usize, entropies: usize): void {
  const bytes = (<usize>stride) << 2;
  for (; rows > 0; rows--) {
    for (let j = vocabulary; j < stride; j++) store<f32>(scores + ((<usize>j) << 2), NEVER);
    let most = f32x4.splat(NEVER);
    for (let j: usize = 0; j < bytes; j += 16) most = f32x4.max(most, v128.load(scores + j));
    const top = f32x4.splat(Lanes.max(most));
    let sum = f32x4.splat(0);
    let weighted = f32x4.splat(0);
    for (let j: usize = 0; j < bytes; j += 16) {
      const z = f32x4.sub(v128.load(scores + j), top);
      const e = Lanes.exp(z);
      v128.store(scores + j, z);
      sum = f32x4.add(sum, e);
      weighted = Lanes.multiplyAdd(e, z, weighted);
    }
    const total = Lanes.sum(sum);
    const log = <f32>Math.log(<f64>total);
    store<f32>(entropies, log - Lanes.sum(weighted) / total);
    const log4 = f32x4.splat(log);
    for (let j: usize = 0; j < bytes; j += 16) v128.store(scores + j, f32x4.sub(v128.load(scores + j), log4));
    scores += bytes;
    entropies += 4;
  }
}

/**
 * dScores = the derivative by the scores, given log-probabilities: −p·(dLogprob + dEntropy·(log p + entropy)).
 * Still missing is +dLogprob at each chosen token, which the host adds: a row may have several.
 *
 * @param dLogprobs Per row, the sum over the row's chosen tokens; `dEntropies` likewise.
 */
export function logSoftmaxBackward(
  rows: i32,
  stride: i32,
  logprobs: usize,
  entropies: usize,
  dLogprobs: usize,
  dEntropies: usize,
  dScores: usize,
): void {
  const bytes = (<usize>stride) << 2;
  for (; rows > 0; rows--) {
    const entropy = v128.load32_splat(entropies);
    const dLogprob = v128.load32_splat(dLogprobs);
    const dEntropy = v128.load32_splat(dEntropies);
    for (let j: usize = 0; j < bytes; j += 16) {
      const logprob = v128.load(logprobs + j);
      const slope = Lanes.multiplyAdd(dEntropy, f32x4.add(logprob, entropy), dLogprob);
      v128.store(dScores + j, f32x4.neg(f32x4.mul(Lanes.exp(logprob), slope)));
    }
    logprobs += bytes;
    dScores += bytes;
    entropies += 4;
    dLogprobs += 4;
    dEntropies += 4;
  }
}

/**
 * The token where the running sum of p^(1/temperature) passes `uniform` of its total; the most likely one, the first of
 * equals, when `inverseTemperature` is Infinity.
 *
 * @param uniform In [0, 1).
 * @param scratch `stride` floats, overwritten.
 */
export function sample(
  vocabulary: i32,
  stride: i32,
  logprobs: usize,
  uniform: f64,
  inverseTemperature: f32,
  scratch: usize,
): i32 {
  const bytes = (<usize>stride) << 2;
  let most = f32x4.splat(-Infinity);
  for (let j: usize = 0; j < bytes; j += 16) most = f32x4.max(most, v128.load(logprobs + j));
  const top = Lanes.max(most);
  if (inverseTemperature == Infinity) return firstEqual(vocabulary, logprobs, top);
  const top4 = f32x4.splat(top);
  const inverse = f32x4.splat(inverseTemperature);
  let sum = f32x4.splat(0);
  for (let j: usize = 0; j < bytes; j += 16) {
    const e = Lanes.exp(f32x4.mul(f32x4.sub(v128.load(logprobs + j), top4), inverse));
    v128.store(scratch + j, e);
    sum = f32x4.add(sum, e);
  }
  return passing(vocabulary, scratch, uniform * <f64>Lanes.sum(sum));
}

function firstEqual(count: i32, values: usize, wanted: f32): i32 {
  for (let j = 0; j < count; j++) if (load<f32>(values + ((<usize>j) << 2)) == wanted) return j;
  return 0;
}

/** Rounding may leave `goal` above the last running sum: then it is the last token that has any weight. */
function passing(count: i32, weights: usize, goal: f64): i32 {
  let running: f64 = 0;
  let last = 0;
  for (let j = 0; j < count; j++) {
    const weight = load<f32>(weights + ((<usize>j) << 2));
    if (weight == 0) continue;
    last = j;
    running += <f64>weight;
    if (running > goal) break;
  }
  return last;
}
