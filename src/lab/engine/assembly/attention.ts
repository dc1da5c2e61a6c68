import { addWeighted, addWeightedToTwo, dots, dotsOfTwo } from './attention-sums';
import { Lanes } from './lanes';
import { AttentionShape, Span } from './records';

/**
 * Causal attention of spans of queries. Rows of keys are [… | keys of all kv heads | values …]; `keys` points at the
 * keys of row 0. The keys of a span lie in two places, shared and own, so that a prompt is kept once however many
 * sequences follow it.
 *
 * @param p Output: the probabilities, for the backward pass: per span [head × query] rows of all its keys, rounded up
 * to 4.
 * @param out Output: row by row, the heads' results side by side.
 */
export function attention(
  shape: AttentionShape,
  spans: usize,
  count: i32,
  q: usize,
  keys: usize,
  p: usize,
  out: usize,
): void {
  for (; count > 0; count--) {
    attend(shape, changetype<Span>(spans), q, keys, p, out);
    spans += offsetof<Span>();
  }
}

function attend(shape: AttentionShape, span: Span, q: usize, keys: usize, p: usize, out: usize): void {
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
  const shared = keys + kvRow * <usize>span.shared;
  const own = keys + kvRow * <usize>span.own;
  const pRow = (<usize>span.pRow) << 2;
  q += qRow * <usize>span.row;
  out += outRow * <usize>span.row;
  p += (<usize>span.p) << 2;
  for (let h = 0; h < heads; h++) {
    const head = headBytes * <usize>h;
    const sharedKeys = shared + headBytes * <usize>(h / group);
    const ownKeys = own + headBytes * <usize>(h / group);
    for (let i = 0; i < queries; i += 2) {
      const query = q + qRow * <usize>i + head;
      const result = out + outRow * <usize>i + head;
      const ownRows = span.ownBefore + i + 1;
      const split = p + ((<usize>sharedRows) << 2);
      zeros(result, headBytes);
      if (i + 1 == queries) {
        dots(query, headBytes, sharedKeys, kvRow, sharedRows, p, scale);
        dots(query, headBytes, ownKeys, kvRow, ownRows, split, scale);
        softmax(p, sharedRows + ownRows);
        addWeighted(result, headBytes, p, 4, sharedKeys + values, kvRow, sharedRows);
        addWeighted(result, headBytes, split, 4, ownKeys + values, kvRow, ownRows);
        p += pRow;
      } else {
        // The second query sees one row more.
        const last = ownKeys + kvRow * <usize>ownRows;
        const lastP = split + pRow + ((<usize>ownRows) << 2);
        dotsOfTwo(query, qRow, headBytes, sharedKeys, kvRow, sharedRows, p, pRow, scale);
        dotsOfTwo(query, qRow, headBytes, ownKeys, kvRow, ownRows, split, pRow, scale);
        dots(query + qRow, headBytes, last, kvRow, 1, lastP, scale);
        softmax(p, sharedRows + ownRows);
        softmax(p + pRow, sharedRows + ownRows + 1);
        zeros(result + outRow, headBytes);
        addWeightedToTwo(result, outRow, headBytes, p, pRow, 4, sharedKeys + values, kvRow, sharedRows);
        addWeightedToTwo(result, outRow, headBytes, split, pRow, 4, ownKeys + values, kvRow, ownRows);
        addWeighted(result + outRow, headBytes, lastP, 4, last + values, kvRow, 1);
        p += pRow * 2;
      }
    }
  }
}

/** Copies keys and values of every span's queries from `from`, rows of `qRow` floats, to its own rows of `keys`. */
export function appendKeys(shape: AttentionShape, spans: usize, count: i32, from: usize, keys: usize): void {
  const qRow = (<usize>shape.qRow) << 2;
  const kvRow = (<usize>shape.kvRow) << 2;
  for (; count > 0; count--) {
    const span = changetype<Span>(spans);
    let row = from + qRow * <usize>span.row;
    let to = keys + kvRow * <usize>(span.own + span.ownBefore);
    for (let i = span.queries; i > 0; i--) {
      for (let j: usize = 0; j < kvRow; j += 16) v128.store(to + j, v128.load(row + j));
      row += qRow;
      to += kvRow;
    }
    spans += offsetof<Span>();
  }
}

/**
 * Copies the probabilities of every span's queries from rows of their own places into the spans'.
 *
 * @param rows For each query, in the order of the spans' rows, its number i: an i32.
 * @param places Of number i, two i32 at 2i: where its first head's row begins in `from`, and floats from head to head.
 */
export function gatherProbabilities(
  heads: i32,
  spans: usize,
  count: i32,
  rows: usize,
  places: usize,
  from: usize,
  to: usize,
): void {
  for (; count > 0; count--) {
    const span = changetype<Span>(spans);
    const pRow = (<usize>span.pRow) << 2;
    const perHead = pRow * <usize>span.queries;
    let target = to + ((<usize>span.p) << 2);
    let keys = span.sharedRows + span.ownBefore + 1;
    for (let i = 0; i < span.queries; i++, keys++) {
      const place = places + ((<usize>load<i32>(rows + ((<usize>(span.row + i)) << 2))) << 3);
      const bytes = (((<usize>keys) << 2) + 15) & ~15;
      const stride = (<usize>load<i32>(place, 4)) << 2;
      let source = from + ((<usize>load<i32>(place)) << 2);
      let row = target;
      for (let h = 0; h < heads; h++) {
        for (let j: usize = 0; j < bytes; j += 16) v128.store(row + j, v128.load(source + j));
        source += stride;
        row += perHead;
      }
      target += pRow;
    }
    spans += offsetof<Span>();
  }
}

/** A loop, because `memory.fill` takes longer for so few bytes. */
function zeros(to: usize, bytes: usize): void {
  for (let d: usize = 0; d < bytes; d += 16) v128.store(to + d, f32x4.splat(0));
}

/** Softmax in place; the row's padding up to a multiple of 4 becomes 0. */
function softmax(p: usize, count: i32): void {
  const end = p + ((<usize>count) << 2);
  const padded = (end + 15) & ~15;
  for (let at = end; at < padded; at += 4) store<f32>(at, -1e30);
  let most = f32x4.splat(-1e30);
  for (let at = p; at < padded; at += 16) most = f32x4.pmax(most, v128.load(at));
  const top = f32x4.splat(Lanes.max(most));
  let sum = f32x4.splat(0);
  for (let at = p; at < padded; at += 16) {
    const e = Lanes.exp(f32x4.sub(v128.load(at), top));
    v128.store(at, e);
    sum = f32x4.add(sum, e);
  }
  const inverse = f32x4.splat(<f32>1 / Lanes.sum(sum));
  for (let at = p; at < padded; at += 16) v128.store(at, f32x4.mul(v128.load(at), inverse));
}
