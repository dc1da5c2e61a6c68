import { Lanes } from './lanes';

// The sums that attention is made of, forward and backward, for one row or for two at a time: two rows share their
// reads. Each sum runs in the same order either way, so the bits are the same.

/** to[j] = scale · query·key[j], four keys at a time. */
export function dots(query: usize, bytes: usize, keys: usize, keyRow: usize, count: i32, to: usize, scale: f32): void {
  const scale4 = f32x4.splat(scale);
  for (; count >= 4; count -= 4) {
    const k1 = keys + keyRow;
    const k2 = k1 + keyRow;
    const k3 = k2 + keyRow;
    let s0 = f32x4.splat(0);
    let s1 = s0;
    let s2 = s0;
    let s3 = s0;
    for (let d: usize = 0; d < bytes; d += 16) {
      const x = v128.load(query + d);
      s0 = Lanes.multiplyAdd(x, v128.load(keys + d), s0);
      s1 = Lanes.multiplyAdd(x, v128.load(k1 + d), s1);
      s2 = Lanes.multiplyAdd(x, v128.load(k2 + d), s2);
      s3 = Lanes.multiplyAdd(x, v128.load(k3 + d), s3);
    }
    v128.store(to, f32x4.mul(Lanes.sums4(s0, s1, s2, s3), scale4));
    keys = k3 + keyRow;
    to += 16;
  }
  for (; count > 0; count--) {
    let s = f32x4.splat(0);
    for (let d: usize = 0; d < bytes; d += 16) s = Lanes.multiplyAdd(v128.load(query + d), v128.load(keys + d), s);
    store<f32>(to, Lanes.sum(s) * scale);
    keys += keyRow;
    to += 4;
  }
}

/** `dots` of two queries: the queries lie `queryRow` bytes apart, and their results `toRow` bytes. */
export function dotsOfTwo(
  query: usize,
  queryRow: usize,
  bytes: usize,
  keys: usize,
  keyRow: usize,
  count: i32,
  to: usize,
  toRow: usize,
  scale: f32,
): void {
  const scale4 = f32x4.splat(scale);
  const other = query + queryRow;
  for (; count >= 4; count -= 4) {
    const k1 = keys + keyRow;
    const k2 = k1 + keyRow;
    const k3 = k2 + keyRow;
    let s0 = f32x4.splat(0);
    let s1 = s0;
    let s2 = s0;
    let s3 = s0;
    let t0 = s0;
    let t1 = s0;
    let t2 = s0;
    let t3 = s0;
    for (let d: usize = 0; d < bytes; d += 16) {
      const x = v128.load(query + d);
      const y = v128.load(other + d);
      let k = v128.load(keys + d);
      s0 = Lanes.multiplyAdd(x, k, s0);
      t0 = Lanes.multiplyAdd(y, k, t0);
      k = v128.load(k1 + d);
      s1 = Lanes.multiplyAdd(x, k, s1);
      t1 = Lanes.multiplyAdd(y, k, t1);
      k = v128.load(k2 + d);
      s2 = Lanes.multiplyAdd(x, k, s2);
      t2 = Lanes.multiplyAdd(y, k, t2);
      k = v128.load(k3 + d);
      s3 = Lanes.multiplyAdd(x, k, s3);
      t3 = Lanes.multiplyAdd(y, k, t3);
    }
    v128.store(to, f32x4.mul(Lanes.sums4(s0, s1, s2, s3), scale4));
    v128.store(to + toRow, f32x4.mul(Lanes.sums4(t0, t1, t2, t3), scale4));
    keys = k3 + keyRow;
    to += 16;
  }
  if (count == 0) return;
  dots(query, bytes, keys, keyRow, count, to, scale);
  dots(other, bytes, keys, keyRow, count, to + toRow, scale);
}

/** to += Σ weight[i] · row[i] in order, for rows of `bytes`. Steps are in bytes, from one weight or row to the next. */
export function addWeighted(
  to: usize,
  bytes: usize,
  weight: usize,
  weightStep: usize,
  row: usize,
  rowStep: usize,
  count: i32,
): void {
  for (; bytes >= 64; bytes -= 64) {
    let w = weight;
    let r = row;
    let s0 = v128.load(to);
    let s1 = v128.load(to, 16);
    let s2 = v128.load(to, 32);
    let s3 = v128.load(to, 48);
    for (let i = count; i > 0; i--) {
      const x = v128.load32_splat(w);
      s0 = Lanes.multiplyAdd(x, v128.load(r), s0);
      s1 = Lanes.multiplyAdd(x, v128.load(r, 16), s1);
      s2 = Lanes.multiplyAdd(x, v128.load(r, 32), s2);
      s3 = Lanes.multiplyAdd(x, v128.load(r, 48), s3);
      w += weightStep;
      r += rowStep;
    }
    v128.store(to, s0);
    v128.store(to, s1, 16);
    v128.store(to, s2, 32);
    v128.store(to, s3, 48);
    to += 64;
    row += 64;
  }
  for (; bytes > 0; bytes -= 16) {
    let w = weight;
    let r = row;
    let sum = v128.load(to);
    for (let i = count; i > 0; i--) {
      sum = Lanes.multiplyAdd(v128.load32_splat(w), v128.load(r), sum);
      w += weightStep;
      r += rowStep;
    }
    v128.store(to, sum);
    to += 16;
    row += 16;
  }
}

/** `addWeighted` to two rows `toStep` bytes apart, with weights that lie `apart` bytes from the first ones. */
export function addWeightedToTwo(
  to: usize,
  toStep: usize,
  bytes: usize,
  weight: usize,
  apart: usize,
  weightStep: usize,
  row: usize,
  rowStep: usize,
  count: i32,
): void {
  for (; bytes >= 64; bytes -= 64) {
    const other = to + toStep;
    let w = weight;
    let v = weight + apart;
    let r = row;
    let s0 = v128.load(to);
    let s1 = v128.load(to, 16);
    let s2 = v128.load(to, 32);
    let s3 = v128.load(to, 48);
    let t0 = v128.load(other);
    let t1 = v128.load(other, 16);
    let t2 = v128.load(other, 32);
    let t3 = v128.load(other, 48);
    for (let i = count; i > 0; i--) {
      const x = v128.load32_splat(w);
      const y = v128.load32_splat(v);
      let z = v128.load(r);
      s0 = Lanes.multiplyAdd(x, z, s0);
      t0 = Lanes.multiplyAdd(y, z, t0);
      z = v128.load(r, 16);
      s1 = Lanes.multiplyAdd(x, z, s1);
      t1 = Lanes.multiplyAdd(y, z, t1);
      z = v128.load(r, 32);
      s2 = Lanes.multiplyAdd(x, z, s2);
      t2 = Lanes.multiplyAdd(y, z, t2);
      z = v128.load(r, 48);
      s3 = Lanes.multiplyAdd(x, z, s3);
      t3 = Lanes.multiplyAdd(y, z, t3);
      w += weightStep;
      v += weightStep;
      r += rowStep;
    }
    v128.store(to, s0);
    v128.store(to, s1, 16);
    v128.store(to, s2, 32);
    v128.store(to, s3, 48);
    v128.store(other, t0);
    v128.store(other, t1, 16);
    v128.store(other, t2, 32);
    v128.store(other, t3, 48);
    to += 64;
    row += 64;
  }
  if (bytes == 0) return;
  addWeighted(to, bytes, weight, weightStep, row, rowStep, count);
  addWeighted(to + toStep, bytes, weight + apart, weightStep, row, rowStep, count);
}
