import { addWeighted, addWeightedToTwo, dots, dotsOfTwo } from './attention-sums';
import { AttentionShape, Span } from './records';

/**
 * Adds to dq and dKeys, which lie as q and `keys` do, the derivatives through `attention`, given those of its results.
 * The derivative of shared rows sums over every span that reads them. No span has own rows before its first query.
 *
 * @param scratch As many floats as p has of one head of the largest span.
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
    const head = first + headBytes * <usize>h;
    const dResult = dOut + headBytes * <usize>h;
    const sharedKeys = shared + headBytes * <usize>(h / group);
    const ownKeys = own + headBytes * <usize>(h / group);
    const sharedValues = keys + sharedKeys + values;
    const ownValues = keys + ownKeys + values;
    let ds = scratch;
    for (let i = 0; i < queries; i += 2) {
      const from = dResult + outRow * <usize>i;
      const isLast = i + 1 == queries;
      if (isLast) {
        dots(from, headBytes, sharedValues, kvRow, sharedRows, ds, 1);
        dots(from, headBytes, ownValues, kvRow, i + 1, ds + split, 1);
      } else {
        dotsOfTwo(from, outRow, headBytes, sharedValues, kvRow, sharedRows, ds, pRow, 1);
        dotsOfTwo(from, outRow, headBytes, ownValues, kvRow, i + 1, ds + split, pRow, 1);
        // The second query sees one row more.
        const last = (<usize>(i + 1)) << 2;
        dots(from + outRow, headBytes, ownValues + kvRow * <usize>(i + 1), kvRow, 1, ds + pRow + split + last, 1);
      }
      const row = p + pRow * <usize>i;
      scoreSlopes(sharedRows, i + 1, row, ds, scale);
      if (!isLast) scoreSlopes(sharedRows, i + 2, row + pRow, ds + pRow, scale);
      ds += pRow * 2;
    }
    queryRows(dq + head, qRow, queries, headBytes, keys + sharedKeys, sharedRows, keys + ownKeys, kvRow, scratch, pRow);
    keyRows(dKeys + sharedKeys, dKeys + ownKeys, kvRow, headBytes, sharedRows, queries, scratch, pRow, q + head, qRow);
    const dValues = dKeys + values;
    keyRows(dValues + sharedKeys, dValues + ownKeys, kvRow, headBytes, sharedRows, queries, p, pRow, dResult, outRow);
    p += pRow * <usize>queries;
  }
}

/** Turns the derivatives w.r.t. the probabilities of one query into those w.r.t. its unscaled scores: p·(dp − Σ p·dp)·scale. */
function scoreSlopes(sharedRows: i32, ownRows: i32, p: usize, dp: usize, scale: f32): void {
  const split = (<usize>sharedRows) << 2;
  const dot4 = f32x4.splat(sumOfProducts(sharedRows, p, dp) + sumOfProducts(ownRows, p + split, dp + split));
  const scale4 = f32x4.splat(scale);
  const end = dp + ((<usize>(sharedRows + ownRows)) << 2);
  for (; dp < end; dp += 16, p += 16) {
    v128.store(dp, f32x4.mul(f32x4.mul(v128.load(p), f32x4.sub(v128.load(dp), dot4)), scale4));
  }
}

/** Σ a·b, summed in order. */
function sumOfProducts(count: i32, a: usize, b: usize): f32 {
  let sum: f32 = 0;
  for (; count > 0; count--) {
    sum += load<f32>(b) * load<f32>(a);
    a += 4;
    b += 4;
  }
  return sum;
}

/** For each query, dQuery += Σ slope[j]·key[j] over the keys it sees. */
function queryRows(
  dQuery: usize,
  qRow: usize,
  queries: i32,
  bytes: usize,
  shared: usize,
  sharedRows: i32,
  own: usize,
  kvRow: usize,
  slopes: usize,
  pRow: usize,
): void {
  const split = (<usize>sharedRows) << 2;
  let i = 0;
  for (; i + 1 < queries; i += 2) {
    addWeightedToTwo(dQuery, qRow, bytes, slopes, pRow, 4, shared, kvRow, sharedRows);
    addWeightedToTwo(dQuery, qRow, bytes, slopes + split, pRow, 4, own, kvRow, i + 1);
    const last = <usize>(i + 1);
    addWeighted(dQuery + qRow, bytes, slopes + pRow + split + (last << 2), 4, own + kvRow * last, kvRow, 1);
    dQuery += qRow * 2;
    slopes += pRow * 2;
  }
  if (i == queries) return;
  addWeighted(dQuery, bytes, slopes, 4, shared, kvRow, sharedRows);
  addWeighted(dQuery, bytes, slopes + split, 4, own, kvRow, queries);
}

/** For each key or value, d[j] += Σ weight[i, j]·row[i] over the queries i that see it, in order. */
function keyRows(
  shared: usize,
  own: usize,
  kvRow: usize,
  bytes: usize,
  sharedRows: i32,
  queries: i32,
  weights: usize,
  pRow: usize,
  rows: usize,
  rowStep: usize,
): void {
  let j = 0;
  for (; j + 1 < sharedRows; j += 2) {
    addWeightedToTwo(shared, kvRow, bytes, weights, 4, pRow, rows, rowStep, queries);
    shared += kvRow * 2;
    weights += 8;
  }
  if (j < sharedRows) {
    addWeighted(shared, bytes, weights, pRow, rows, rowStep, queries);
    weights += 4;
  }
  // `weights` and `rows` are at query j, the first that sees own key j; it does not see key j + 1.
  for (j = 0; j + 1 < queries; j += 2) {
    addWeighted(own, bytes, weights, pRow, rows, rowStep, 1);
    weights += pRow;
    rows += rowStep;
    addWeightedToTwo(own, kvRow, bytes, weights, 4, pRow, rows, rowStep, queries - j - 1);
    own += kvRow * 2;
    weights += pRow + 8;
    rows += rowStep;
  }
  if (j < queries) addWeighted(own, bytes, weights, pRow, rows, rowStep, 1);
}
