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
    // `pmax` skips a NaN here; the sum below still becomes NaN.
    for (let j: usize = 0; j < bytes; j += 16) most = f32x4.pmax(most, v128.load(scores + j));
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
 * dScores = the derivative w.r.t. the scores, given log-probabilities: −p·(dLogprob + dEntropy·(log p + entropy)).
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
  let isNaN = f32x4.splat(0);
  for (let j: usize = 0; j < bytes; j += 16) {
    const logprob = v128.load(logprobs + j);
    most = f32x4.pmax(most, logprob);
    isNaN = v128.or(isNaN, f32x4.ne(logprob, logprob));
  }
  const top: f32 = v128.any_true(isNaN) ? <f32>NaN : Lanes.max(most);
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

/**
 * The first index where the running sum passes `goal`. Rounding may leave `goal` above the last running sum: then the
 * last index with any weight.
 */
function passing(count: i32, weights: usize, goal: f64): i32 {
  let running: f64 = 0;
  let last = 0;
  for (let j = 0; j < count; j++) {
    const weight = load<f32>(weights + ((<usize>j) << 2));
    if (weight == 0) continue;
    last = j;
    running += <f64>weight;
    if (!(running <= goal)) break;
  }
  return last;
}

/**
 * Leaves the likeliest tokens of one row of log-probabilities: the `most` likeliest, of these the fewest that have
 * `share` of what is left, and any that are as likely as the last of them. The others get −1e30 or less; the row is
 * normalised again.
 *
 * @param stride Its padding has probability 0.
 * @param most 1 or more; what is not below the vocabulary cuts nothing.
 * @param share In (0, 1]; 1 cuts nothing.
 * @param scratch `stride` floats, overwritten.
 */
export function keepLikeliest(stride: i32, logprobs: usize, most: i32, share: f32, scratch: usize): void {
  const bytes = (<usize>stride) << 2;
  let top = f32x4.splat(0);
  for (let j: usize = 0; j < bytes; j += 16) {
    const p = Lanes.exp(v128.load(logprobs + j));
    v128.store(scratch + j, p);
    top = f32x4.max(top, p);
  }
  const highest = Lanes.max(top);
  // The order of non-negative floats is that of their bits: the threshold is found by bisection over the bits.
  let least: f32 = 0;
  if (most < stride) least = leastToKeep(scratch, bytes, highest, <f32>most, true);
  if (share < 1) {
    const kept = sumFrom(scratch, bytes, least);
    const fewest = leastToKeep(scratch, bytes, highest, share * kept, false);
    least = max(least, fewest);
  }
  const log = f32x4.splat(<f32>Math.log(<f64>sumFrom(scratch, bytes, least)));
  const least4 = f32x4.splat(least);
  for (let j: usize = 0; j < bytes; j += 16) {
    const isCut = f32x4.lt(v128.load(scratch + j), least4);
    const logprob = f32x4.sub(v128.load(logprobs + j), log);
    v128.store(logprobs + j, v128.bitselect(f32x4.splat(NEVER), logprob, isCut));
  }
}

/** The largest number not above `top` such that the probabilities from it up reach `goal`: in number, or in sum. */
function leastToKeep(p: usize, bytes: usize, top: f32, goal: f32, inNumber: bool): f32 {
  // The bits of a NaN are in no order.
  if (!(top >= 0)) return 0;
  let low: u32 = 0;
  let high = reinterpret<u32>(top);
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    const least = reinterpret<f32>(middle);
    const reached = inNumber ? <f32>countFrom(p, bytes, least) : sumFrom(p, bytes, least);
    if (reached >= goal) low = middle;
    else high = middle - 1;
  }
  return reinterpret<f32>(low);
}

function countFrom(p: usize, bytes: usize, least: f32): i32 {
  const least4 = f32x4.splat(least);
  let count = i32x4.splat(0);
  for (let j: usize = 0; j < bytes; j += 16) count = i32x4.sub(count, f32x4.ge(v128.load(p + j), least4));
  return (
    i32x4.extract_lane(count, 0) +
    i32x4.extract_lane(count, 1) +
    i32x4.extract_lane(count, 2) +
    i32x4.extract_lane(count, 3)
  );
}

function sumFrom(p: usize, bytes: usize, least: f32): f32 {
  const least4 = f32x4.splat(least);
  let sum = f32x4.splat(0);
  for (let j: usize = 0; j < bytes; j += 16) {
    const x = v128.load(p + j);
    sum = f32x4.add(sum, v128.and(x, f32x4.ge(x, least4)));
  }
  return Lanes.sum(sum);
}
