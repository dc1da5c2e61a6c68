import { Lanes } from './lanes';

/** First byte that the host may use: the module's own constants lie below it. */
export function heapBase(): usize {
  return (__heap_base + 63) & ~63;
}

export function zero(count: i32, at: usize): void {
  memory.fill(at, 0, (<usize>count) << 2);
}

export function copy(count: i32, from: usize, to: usize): void {
  memory.copy(to, from, (<usize>count) << 2);
}

/** x · factor, in place. `count` is a multiple of 4; so it is below. */
export function scale(count: i32, at: usize, factor: f32): void {
  const end = at + ((<usize>count) << 2);
  const factor4 = f32x4.splat(factor);
  for (; at < end; at += 16) v128.store(at, f32x4.mul(v128.load(at), factor4));
}

/** to += factor · from. */
export function addScaled(count: i32, factor: f32, from: usize, to: usize): void {
  const end = to + ((<usize>count) << 2);
  const factor4 = f32x4.splat(factor);
  for (; to < end; to += 16, from += 16) v128.store(to, Lanes.multiplyAdd(factor4, v128.load(from), v128.load(to)));
}

/** Bytes of a block whose squares are summed in single precision. */
export const SQUARES_BYTES: usize = 256;

/** Σ x², in double precision between blocks of 64 so that a million small terms are not lost. */
export function sumSquares(count: i32, at: usize): f64 {
  const end = at + ((<usize>count) << 2);
  let total: f64 = 0;
  while (at < end) {
    const stop = min(end, at + SQUARES_BYTES);
    let part = f32x4.splat(0);
    for (; at < stop; at += 16) part = Lanes.multiplyAdd(v128.load(at), v128.load(at), part);
    total += Lanes.sum(part);
  }
  return total;
}

/** to[i] = table[ids[i]], row by row. */
export function gatherRows(rows: i32, width: i32, ids: usize, table: usize, to: usize): void {
  const bytes = (<usize>width) << 2;
  for (let i = 0; i < rows; i++) {
    let from = table + bytes * <usize>load<i32>(ids);
    const end = to + bytes;
    for (; to < end; to += 16, from += 16) v128.store(to, v128.load(from));
    ids += 4;
  }
}

/** table[ids[i]] += from[i], row by row, in order. */
export function scatterAddRows(rows: i32, width: i32, ids: usize, from: usize, table: usize): void {
  const bytes = (<usize>width) << 2;
  for (let i = 0; i < rows; i++) {
    let to = table + bytes * <usize>load<i32>(ids);
    const end = from + bytes;
    for (; from < end; to += 16, from += 16) v128.store(to, f32x4.add(v128.load(to), v128.load(from)));
    ids += 4;
  }
}
