import { Lanes } from './lanes';
import { OuterProduct, Product } from './records';

/**
 * Depth up to which a panel of 8 columns is read where it lies: 64 rows touch at most the 64 lines that stay in the
 * first cache even when the stride is a power of two. `matrices.ts` has the same number.
 */
const DIRECT_DEPTH = 64;
/** Rows that `addProduct` multiplies at a time, so that their panels stay in cache; `matrices.ts` has the same number. */
const BLOCK_ROWS = 256;

/** Bytes for the product that `addProduct` makes of a block; `matrices.ts` makes room for them. */
const PRODUCT_BYTES: usize = 64;

/**
 * C (+)= A·B for A [rows × depth], B [depth × columns], C [rows × columns].
 *
 * A is read with two strides, so a transposed A costs nothing. B is read in panels of 8 columns: `bRow` floats from one
 * depth to the next, `bPanel` floats from one panel to the next. A row-major B is (its width, 8); B packed by `packRows`
 * or `packColumns` is (8, 8 × depth). Packing pays when a panel of a row-major B would not stay in the first cache.
 * When `columns` is 4 above a multiple of 8, B is read 4 floats past its last row, and these are not used.
 *
 * @param accumulate 0 overwrites C, 1 adds to it.
 */
export function gemm(product: Product, rows: i32, a: usize, c: usize, accumulate: i32): void {
  const aRows4 = (<usize>product.aRow) << 4;
  const cRows4 = (<usize>product.cRow) << 4;
  let b = product.b;
  for (let columns = product.columns; columns > 0; columns -= 8) {
    const half = columns < 8;
    let i = rows;
    let ai = a;
    let ci = c;
    for (; i >= 4; i -= 4) {
      if (aRows4 == 16) tile4Columns(product, ai, b, ci, accumulate, half);
      else tile4(product, ai, b, ci, accumulate, half);
      ai += aRows4;
      ci += cRows4;
    }
    if (i == 3) tile3(product, ai, b, ci, accumulate, half);
    else if (i == 2) tile2(product, ai, b, ci, accumulate, half);
    else if (i == 1) tile1(product, ai, b, ci, accumulate, half);
    b += (<usize>product.bPanel) << 2;
    c += 32;
  }
}

/**
 * target [left width × right width] += leftᵀ · right, summed over rows in order.
 *
 * @param scratch A record, and a packed copy of as many rows of `right` as are multiplied at a time.
 */
export function addProduct(
  outer: OuterProduct,
  rows: i32,
  left: usize,
  right: usize,
  target: usize,
  scratch: usize,
): void {
  const width = outer.rightWidth;
  const block = changetype<Product>(scratch);
  const packed = scratch + PRODUCT_BYTES;
  block.columns = width;
  block.aRow = 1;
  block.aDepth = outer.leftRow;
  block.cRow = width;
  for (; rows > 0; rows -= BLOCK_ROWS) {
    const depth = min(rows, BLOCK_ROWS);
    const direct = depth <= DIRECT_DEPTH;
    if (!direct) packRows(depth, width, right, width, packed);
    block.depth = depth;
    block.b = direct ? right : packed;
    block.bRow = direct ? width : 8;
    block.bPanel = direct ? 8 : 8 * depth;
    gemm(block, outer.leftWidth, left, target, 1);
    left += (<usize>(BLOCK_ROWS * outer.leftRow)) << 2;
    right += (<usize>(BLOCK_ROWS * width)) << 2;
  }
}

// One tile is 1 to 4 rows × 8 columns. 4 × 8 keeps 8 sums, 2 vectors of B and 1 of A in registers; 5 × 8 would spill
// (V8 has 15 to give) and run at half the speed. Every sum runs over depth in order, whatever the tile.

function tile4(product: Product, a: usize, b: usize, c: usize, accumulate: i32, half: bool): void {
  Tile.multiply(4, false, product, a, b, c, accumulate, half);
}

/** For a transposed A, whose four rows lie side by side: one address instead of four. */
function tile4Columns(product: Product, a: usize, b: usize, c: usize, accumulate: i32, half: bool): void {
  Tile.multiply(4, true, product, a, b, c, accumulate, half);
}

function tile3(product: Product, a: usize, b: usize, c: usize, accumulate: i32, half: bool): void {
  Tile.multiply(3, false, product, a, b, c, accumulate, half);
}

function tile2(product: Product, a: usize, b: usize, c: usize, accumulate: i32, half: bool): void {
  Tile.multiply(2, false, product, a, b, c, accumulate, half);
}

function tile1(product: Product, a: usize, b: usize, c: usize, accumulate: i32, half: bool): void {
  Tile.multiply(1, false, product, a, b, c, accumulate, half);
}

class Tile {
  /**
   * The tile of which those above are made: `rows` and `sideBySide` (whether the rows of A are neighbours) are constants
   * there, so that the compiler leaves of it what each needs.
   */
  @inline
  static multiply(
    rows: i32,
    sideBySide: bool,
    product: Product,
    a: usize,
    b: usize,
    c: usize,
    accumulate: i32,
    half: bool,
  ): void {
    const aRow = (<usize>product.aRow) << 2;
    const aDepth = (<usize>product.aDepth) << 2;
    const bRow = (<usize>product.bRow) << 2;
    const cRow = (<usize>product.cRow) << 2;
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
    for (let depth = product.depth; depth > 0; depth--) {
      const b0 = v128.load(b);
      const b1 = v128.load(b, 16);
      b += bRow;
      let x = v128.load32_splat(a);
      s00 = Lanes.multiplyAdd(x, b0, s00);
      s01 = Lanes.multiplyAdd(x, b1, s01);
      if (rows > 1) {
        x = sideBySide ? v128.load32_splat(a, 4) : v128.load32_splat(a1);
        s10 = Lanes.multiplyAdd(x, b0, s10);
        s11 = Lanes.multiplyAdd(x, b1, s11);
        if (!sideBySide) a1 += aDepth;
      }
      if (rows > 2) {
        x = sideBySide ? v128.load32_splat(a, 8) : v128.load32_splat(a2);
        s20 = Lanes.multiplyAdd(x, b0, s20);
        s21 = Lanes.multiplyAdd(x, b1, s21);
        if (!sideBySide) a2 += aDepth;
      }
      if (rows > 3) {
        x = sideBySide ? v128.load32_splat(a, 12) : v128.load32_splat(a3);
        s30 = Lanes.multiplyAdd(x, b0, s30);
        s31 = Lanes.multiplyAdd(x, b1, s31);
        if (!sideBySide) a3 += aDepth;
      }
      a += aDepth;
    }
    put(c, s00, s01, accumulate, half);
    if (rows > 1) put(c + cRow, s10, s11, accumulate, half);
    if (rows > 2) put(c + cRow * 2, s20, s21, accumulate, half);
    if (rows > 3) put(c + cRow * 3, s30, s31, accumulate, half);
  }
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
