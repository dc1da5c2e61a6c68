import { Lanes } from './lanes';

/**
 * C (+)= A·B for A [rows × depth], B [depth × columns], C [rows × columns].
 *
 * A is read with two strides, so a transposed A costs nothing. B is read in panels of 8 columns: `bRow` floats from one
 * depth to the next, `bPanel` floats from one panel to the next. A row-major B is (its width, 8); B packed by `packRows`
 * or `packColumns` is (8, 8 × depth). Packing pays when a panel of a row-major B would not stay in the first cache.
 * When `columns` is 4 above a multiple of 8, B is read 4 floats past its last row, and these are not used.
 *
 * @param columns Multiple of 4.
 * @param accumulate 0 overwrites C, 1 adds to it.
 */
export function gemm(
  rows: i32,
  columns: i32,
  depth: i32,
  a: usize,
  aRow: usize,
  aDepth: usize,
  b: usize,
  bRow: usize,
  bPanel: usize,
  c: usize,
  cRow: usize,
  accumulate: i32,
): void {
  aRow <<= 2;
  aDepth <<= 2;
  bRow <<= 2;
  bPanel <<= 2;
  cRow <<= 2;
  for (; columns > 0; columns -= 8) {
    const half = columns < 8;
    let i = rows;
    let ai = a;
    let ci = c;
    for (; i >= 4; i -= 4) {
      if (aRow == 4) tile4Columns(depth, ai, aDepth, b, bRow, ci, cRow, accumulate, half);
      else tile4(depth, ai, aRow, aDepth, b, bRow, ci, cRow, accumulate, half);
      ai += aRow << 2;
      ci += cRow << 2;
    }
    if (i == 3) tile3(depth, ai, aRow, aDepth, b, bRow, ci, cRow, accumulate, half);
    else if (i == 2) tile2(depth, ai, aRow, aDepth, b, bRow, ci, cRow, accumulate, half);
    else if (i == 1) tile1(depth, ai, aDepth, b, bRow, ci, accumulate, half);
    b += bPanel;
    c += 32;
  }
}

// One tile is 1 to 4 rows × 8 columns. 4 × 8 keeps 8 sums, 2 vectors of B and 1 of A in registers; 5 × 8 would spill
// (V8 has 15 to give) and run at half the speed. Every sum runs over depth in order, whatever the tile.

function tile4(
  depth: i32,
  a: usize,
  aRow: usize,
  aDepth: usize,
  b: usize,
  bRow: usize,
  c: usize,
  cRow: usize,
  accumulate: i32,
  half: bool,
): void {
  let s00 = f32x4.splat(0);
  let s01 = s00;
  let s10 = s00;
  let s11 = s00;
  let s20 = s00;
  let s21 = s00;
  let s30 = s00;
  let s31 = s00;
  let a1 = a + aRow;
  let a2 = a1 + aRow;
  let a3 = a2 + aRow;
  for (; depth > 0; depth--) {
    const b0 = v128.load(b);
    const b1 = v128.load(b, 16);
    b += bRow;
    let x = v128.load32_splat(a);
    a += aDepth;
    s00 = Lanes.multiplyAdd(x, b0, s00);
    s01 = Lanes.multiplyAdd(x, b1, s01);
    x = v128.load32_splat(a1);
    a1 += aDepth;
    s10 = Lanes.multiplyAdd(x, b0, s10);
    s11 = Lanes.multiplyAdd(x, b1, s11);
    x = v128.load32_splat(a2);
    a2 += aDepth;
    s20 = Lanes.multiplyAdd(x, b0, s20);
    s21 = Lanes.multiplyAdd(x, b1, s21);
    x = v128.load32_splat(a3);
    a3 += aDepth;
    s30 = Lanes.multiplyAdd(x, b0, s30);
    s31 = Lanes.multiplyAdd(x, b1, s31);
  }
  put(c, s00, s01, accumulate, half);
  put(c + cRow, s10, s11, accumulate, half);
  put(c + cRow * 2, s20, s21, accumulate, half);
  put(c + cRow * 3, s30, s31, accumulate, half);
}

/** `tile4` for a transposed A, whose four rows lie side by side: one address instead of four. */
function tile4Columns(
  depth: i32,
  a: usize,
  aDepth: usize,
  b: usize,
  bRow: usize,
  c: usize,
  cRow: usize,
  accumulate: i32,
  half: bool,
): void {
  let s00 = f32x4.splat(0);
  let s01 = s00;
  let s10 = s00;
  let s11 = s00;
  let s20 = s00;
  let s21 = s00;
  let s30 = s00;
  let s31 = s00;
  for (; depth > 0; depth--) {
    const b0 = v128.load(b);
    const b1 = v128.load(b, 16);
    b += bRow;
    let x = v128.load32_splat(a);
    s00 = Lanes.multiplyAdd(x, b0, s00);
    s01 = Lanes.multiplyAdd(x, b1, s01);
    x = v128.load32_splat(a, 4);
    s10 = Lanes.multiplyAdd(x, b0, s10);
    s11 = Lanes.multiplyAdd(x, b1, s11);
    x = v128.load32_splat(a, 8);
    s20 = Lanes.multiplyAdd(x, b0, s20);
    s21 = Lanes.multiplyAdd(x, b1, s21);
    x = v128.load32_splat(a, 12);
    s30 = Lanes.multiplyAdd(x, b0, s30);
    s31 = Lanes.multiplyAdd(x, b1, s31);
    a += aDepth;
  }
  put(c, s00, s01, accumulate, half);
  put(c + cRow, s10, s11, accumulate, half);
  put(c + cRow * 2, s20, s21, accumulate, half);
  put(c + cRow * 3, s30, s31, accumulate, half);
}

function tile3(
  depth: i32,
  a: usize,
  aRow: usize,
  aDepth: usize,
  b: usize,
  bRow: usize,
  c: usize,
  cRow: usize,
  accumulate: i32,
  half: bool,
): void {
  let s00 = f32x4.splat(0);
  let s01 = s00;
  let s10 = s00;
  let s11 = s00;
  let s20 = s00;
  let s21 = s00;
  let a1 = a + aRow;
  let a2 = a1 + aRow;
  for (; depth > 0; depth--) {
    const b0 = v128.load(b);
    const b1 = v128.load(b, 16);
    b += bRow;
    let x = v128.load32_splat(a);
    a += aDepth;
    s00 = Lanes.multiplyAdd(x, b0, s00);
    s01 = Lanes.multiplyAdd(x, b1, s01);
    x = v128.load32_splat(a1);
    a1 += aDepth;
    s10 = Lanes.multiplyAdd(x, b0, s10);
    s11 = Lanes.multiplyAdd(x, b1, s11);
    x = v128.load32_splat(a2);
    a2 += aDepth;
    s20 = Lanes.multiplyAdd(x, b0, s20);
    s21 = Lanes.multiplyAdd(x, b1, s21);
  }
  put(c, s00, s01, accumulate, half);
  put(c + cRow, s10, s11, accumulate, half);
  put(c + cRow * 2, s20, s21, accumulate, half);
}

function tile2(
  depth: i32,
  a: usize,
  aRow: usize,
  aDepth: usize,
  b: usize,
  bRow: usize,
  c: usize,
  cRow: usize,
  accumulate: i32,
  half: bool,
): void {
  let s00 = f32x4.splat(0);
  let s01 = s00;
  let s10 = s00;
  let s11 = s00;
  let a1 = a + aRow;
  for (; depth > 0; depth--) {
    const b0 = v128.load(b);
    const b1 = v128.load(b, 16);
    b += bRow;
    let x = v128.load32_splat(a);
    a += aDepth;
    s00 = Lanes.multiplyAdd(x, b0, s00);
    s01 = Lanes.multiplyAdd(x, b1, s01);
    x = v128.load32_splat(a1);
    a1 += aDepth;
    s10 = Lanes.multiplyAdd(x, b0, s10);
    s11 = Lanes.multiplyAdd(x, b1, s11);
  }
  put(c, s00, s01, accumulate, half);
  put(c + cRow, s10, s11, accumulate, half);
}

function tile1(
  depth: i32,
  a: usize,
  aDepth: usize,
  b: usize,
  bRow: usize,
  c: usize,
  accumulate: i32,
  half: bool,
): void {
  let s0 = f32x4.splat(0);
  let s1 = s0;
  for (; depth > 0; depth--) {
    const x = v128.load32_splat(a);
    a += aDepth;
    s0 = Lanes.multiplyAdd(x, v128.load(b), s0);
    s1 = Lanes.multiplyAdd(x, v128.load(b, 16), s1);
    b += bRow;
  }
  put(c, s0, s1, accumulate, half);
}

/** One finished row of a tile into C. */
function put(c: usize, s0: v128, s1: v128, accumulate: i32, half: bool): void {
  if (accumulate) s0 = f32x4.add(s0, v128.load(c));
  v128.store(c, s0);
  if (half) return;
  if (accumulate) s1 = f32x4.add(s1, v128.load(c, 16));
  v128.store(c, s1, 16);
}

/** Packs B [depth × columns], row-major with `stride`, into panels of 8 columns. Missing columns are zeros. */
export function packRows(depth: i32, columns: i32, from: usize, stride: usize, to: usize): void {
  stride <<= 2;
  for (; columns > 0; columns -= 8) {
    let row = from;
    for (let k = 0; k < depth; k++) {
      v128.store(to, v128.load(row));
      v128.store(to, columns > 4 ? v128.load(row, 16) : f32x4.splat(0), 16);
      row += stride;
      to += 32;
    }
    from += 32;
  }
}

/**
 * Packs the transpose of `from` [columns × depth], row-major with `stride`, into panels of 8 columns.
 * `columns` is any number (a vocabulary): missing columns are zeros.
 */
export function packColumns(depth: i32, columns: i32, from: usize, stride: usize, to: usize): void {
  stride <<= 2;
  const panelBytes = (<usize>depth) << 5;
  for (; columns >= 8; columns -= 8) {
    transpose4(depth, from, stride, to);
    transpose4(depth, from + stride * 4, stride, to + 16);
    from += stride * 8;
    to += panelBytes;
  }
  if (columns == 0) return;
  memory.fill(to, 0, panelBytes);
  for (let j = 0; j < columns; j++) {
    for (let k = 0; k < depth; k++) {
      store<f32>(to + ((<usize>(k * 8 + j)) << 2), load<f32>(from + ((<usize>k) << 2)));
    }
    from += stride;
  }
}

/** Four rows of `from` become four columns of a panel (32 bytes a row). */
function transpose4(depth: i32, from: usize, stride: usize, to: usize): void {
  let r1 = from + stride;
  let r2 = r1 + stride;
  let r3 = r2 + stride;
  for (; depth > 0; depth -= 4) {
    const a = v128.load(from);
    const b = v128.load(r1);
    const c = v128.load(r2);
    const d = v128.load(r3);
    const ab0 = v128.shuffle<f32>(a, b, 0, 4, 1, 5);
    const ab1 = v128.shuffle<f32>(a, b, 2, 6, 3, 7);
    const cd0 = v128.shuffle<f32>(c, d, 0, 4, 1, 5);
    const cd1 = v128.shuffle<f32>(c, d, 2, 6, 3, 7);
    v128.store(to, v128.shuffle<f32>(ab0, cd0, 0, 1, 4, 5));
    v128.store(to, v128.shuffle<f32>(ab0, cd0, 2, 3, 6, 7), 32);
    v128.store(to, v128.shuffle<f32>(ab1, cd1, 0, 1, 4, 5), 64);
    v128.store(to, v128.shuffle<f32>(ab1, cd1, 2, 3, 6, 7), 96);
    from += 16;
    r1 += 16;
    r2 += 16;
    r3 += 16;
    to += 128;
  }
}
