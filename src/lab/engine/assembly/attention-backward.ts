import { Lanes } from './lanes';

/**
 * Adds to dq, dk and dv the derivatives through `attention`, given those of its results. The derivative of the shared
 * rows gathers what every sequence that reads them sends back.
 *
 * Arguments as for `attention` with no own rows before the first query; `dShared` and `dOwn` point at the first row's
 * key derivatives, rows as long as `kvRow`, `dq` at rows of `qRow` floats.
 *
 * @param scratch As many floats as a row of p.
 */
export function attentionBackward(
  heads: i32,
  kvHeads: i32,
  headWidth: i32,
  queries: i32,
  q: usize,
  qRow: usize,
  shared: usize,
  sharedRows: i32,
  own: usize,
  kvRow: usize,
  p: usize,
  pRow: usize,
  dOut: usize,
  outRow: usize,
  dq: usize,
  dShared: usize,
  dOwn: usize,
  scale: f32,
  scratch: usize,
): void {
  const headBytes = (<usize>headWidth) << 2;
  const values = headBytes * <usize>kvHeads;
  const group = heads / kvHeads;
  const split = (<usize>sharedRows) << 2;
  qRow <<= 2;
  kvRow <<= 2;
  pRow <<= 2;
  outRow <<= 2;
  for (let h = 0; h < heads; h++) {
    const head = headBytes * <usize>h;
    const kvHead = headBytes * <usize>(h / group);
    for (let i = 0; i < queries; i++) {
      const rows = qRow * <usize>i + head;
      const dResult = dOut + outRow * <usize>i + head;
      const v1 = values + kvHead;
      const dot =
        valueSide(dResult, headBytes, shared + v1, dShared + v1, kvRow, sharedRows, p, scratch) +
        valueSide(dResult, headBytes, own + v1, dOwn + v1, kvRow, i + 1, p + split, scratch + split);
      scoreSlopes(sharedRows + i + 1, p, scratch, dot, scale);
      keySide(q + rows, dq + rows, headBytes, shared + kvHead, dShared + kvHead, kvRow, sharedRows, scratch);
      keySide(q + rows, dq + rows, headBytes, own + kvHead, dOwn + kvHead, kvRow, i + 1, scratch + split);
      p += pRow;
    }
  }
}

/** dp[j] = dResult·value[j]; dValue[j] += p[j]·dResult. Gives Σ p·dp. */
function valueSide(
  dResult: usize,
  bytes: usize,
  value: usize,
  dValue: usize,
  row: usize,
  count: i32,
  p: usize,
  dp: usize,
): f32 {
  let dot: f32 = 0;
  for (; count > 0; count--) {
    const weight = load<f32>(p);
    const weight4 = f32x4.splat(weight);
    let sum = f32x4.splat(0);
    for (let d: usize = 0; d < bytes; d += 16) {
      const g = v128.load(dResult + d);
      sum = Lanes.multiplyAdd(g, v128.load(value + d), sum);
      v128.store(dValue + d, Lanes.multiplyAdd(weight4, g, v128.load(dValue + d)));
    }
    const slope = Lanes.sum(sum);
    store<f32>(dp, slope);
    dot += slope * weight;
    value += row;
    dValue += row;
    p += 4;
    dp += 4;
  }
  return dot;
}

/** dp becomes the derivative by the unscaled scores: p·(dp − dot)·scale. */
function scoreSlopes(count: i32, p: usize, dp: usize, dot: f32, scale: f32): void {
  const dot4 = f32x4.splat(dot);
  const scale4 = f32x4.splat(scale);
  const end = dp + ((<usize>count) << 2);
  for (; dp < end; dp += 16, p += 16) {
    v128.store(dp, f32x4.mul(f32x4.mul(v128.load(p), f32x4.sub(v128.load(dp), dot4)), scale4));
  }
}

/** dQuery += Σ ds[j]·key[j]; dKey[j] += ds[j]·query. */
function keySide(
  query: usize,
  dQuery: usize,
  bytes: usize,
  key: usize,
  dKey: usize,
  row: usize,
  count: i32,
  ds: usize,
): void {
  for (let d: usize = 0; d < bytes; d += 16) {
    const x = v128.load(query + d);
    let sum = v128.load(dQuery + d);
    let k = key + d;
    let dk = dKey + d;
    for (let j = 0; j < count; j++) {
      const slope = v128.load32_splat(ds + ((<usize>j) << 2));
      sum = Lanes.multiplyAdd(slope, v128.load(k), sum);
      v128.store(dk, Lanes.multiplyAdd(slope, x, v128.load(dk)));
      k += row;
      dk += row;
    }
    v128.store(dQuery + d, sum);
  }
}
