import { Lanes } from './lanes';
import { AttentionShape, Span } from './records';

/**
 * Adds to dq and dKeys, which lie as q and `keys` do, the derivatives through `attention`, given those of its results. The
 * derivative of shared rows gathers what every span that reads them sends back. No span has own rows before its first query.
 *
 * @param scratch As many floats as the longest row of p.
 */
export function attentionBackward(
  shape: AttentionShape,
  spans: usize,
  count: i32,
  q: usize,
  keys: usize,
  p: usize,
  dOut: usize,
  dq: usize,
  dKeys: usize,
  scratch: usize,
): void {
  for (; count > 0; count--) {
    attendBackward(shape, changetype<Span>(spans), q, keys, p, dOut, dq, dKeys, scratch);
    spans += offsetof<Span>();
  }
}

function attendBackward(
  shape: AttentionShape,
  span: Span,
  q: usize,
  keys: usize,
  p: usize,
  dOut: usize,
  dq: usize,
  dKeys: usize,
  scratch: usize,
): void {
  const heads = shape.heads;
  const headBytes = (<usize>shape.headWidth) << 2;
  const values = headBytes * <usize>shape.kvHeads;
  const group = heads / shape.kvHeads;
  const qRow = (<usize>shape.qRow) << 2;
  const kvRow = (<usize>shape.kvRow) << 2;
  const outRow = (<usize>shape.outRow) << 2;
  const scale = shape.scale;
  const queries = span.queries;
  const sharedRows = span.sharedRows;
  const split = (<usize>sharedRows) << 2;
  const shared = kvRow * <usize>span.shared;
  const own = kvRow * <usize>span.own;
  const pRow = (<usize>span.pRow) << 2;
  const first = qRow * <usize>span.row;
  dOut += outRow * <usize>span.row;
  p += (<usize>span.p) << 2;
  for (let h = 0; h < heads; h++) {
    const head = headBytes * <usize>h;
    const kvHead = headBytes * <usize>(h / group);
    const sharedKeys = shared + kvHead;
    const ownKeys = own + kvHead;
    const sharedValues = sharedKeys + values;
    const ownValues = ownKeys + values;
    for (let i = 0; i < queries; i++) {
      const row = first + qRow * <usize>i + head;
      const dResult = dOut + outRow * <usize>i + head;
      const dot =
        valueSide(dResult, headBytes, keys + sharedValues, dKeys + sharedValues, kvRow, sharedRows, p, scratch) +
        valueSide(dResult, headBytes, keys + ownValues, dKeys + ownValues, kvRow, i + 1, p + split, scratch + split);
      scoreSlopes(sharedRows + i + 1, p, scratch, dot, scale);
      keySide(q + row, dq + row, headBytes, keys + sharedKeys, dKeys + sharedKeys, kvRow, sharedRows, scratch);
      keySide(q + row, dq + row, headBytes, keys + ownKeys, dKeys + ownKeys, kvRow, i + 1, scratch + split);
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
