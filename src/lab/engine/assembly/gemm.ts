import { Lanes } from './lanes';
import { packQuads, packRows, packSideBySide } from './packing';
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

/** Floats of A that are packed at a time: they stay in the second cache while all of B passes. */
const PACKED_FLOATS = 2 ** 15;
/** Depth of a block: a panel of B and four packed rows of A stay in the first cache. */
const PACKED_DEPTH = 768;
/** Accumulate mode of a tile besides 0 and 1: continues the sums that are in C. */
const RESUME = 2;

/** Address of the packed A, which a record follows. */
let packing: usize = 0;

/** Bytes of scratch of each instance of this module: threads are instances on the same memory. */
export function packingBytes(): usize {
  return ((<usize>PACKED_FLOATS) << 2) + PRODUCT_BYTES;
}

/** Sets the scratch. Must be called before any product is computed. */
export function packAt(address: usize): void {
  packing = address;
}

/**
 * C (+)= A·B for A [rows × depth], B [depth × columns], C [rows × columns].
 *
 * A is read with two strides of which one is 1. B is read in panels of 8 columns: `bRow` floats from one
 * depth to the next, `bPanel` floats from one panel to the next. A row-major B is (its width, 8); B packed by `packRows`
 * or `packColumns` is (8, 8 × depth). Packing pays when a panel of a row-major B would not stay in the first cache.
 * When `columns` is 4 above a multiple of 8, B is read 4 floats past its last row, and these are not used.
 *
 * @param accumulate 0 overwrites C, 1 adds to it.
 */
export function gemm(product: Product, rows: i32, a: usize, c: usize, accumulate: i32): void {
  const quads = packs(product, accumulate) ? rows & ~3 : 0;
  if (quads > 0) quadProduct(product, quads, a, c, accumulate);
  if (quads == rows) return;
  a += (<usize>(quads * product.aRow)) << 2;
  c += (<usize>(quads * product.cRow)) << 2;
  plainProduct(product, rows - quads, a, c, accumulate);
}

/** Whether A is packed. A sum that is added to C must be made in one piece; other sums can be resumed. */
function packs(product: Product, accumulate: i32): bool {
  return accumulate == 0 || product.depth <= PACKED_FLOATS / 4;
}

/** The product of rows in fours: A packed, in blocks of depth and of rows. */
function quadProduct(product: Product, rows: i32, a: usize, c: usize, accumulate: i32): void {
  const aRow = (<usize>product.aRow) << 2;
  const aDepth = (<usize>product.aDepth) << 2;
  const cRow = (<usize>product.cRow) << 2;
  const block = blockOf(product);
  const deepest = accumulate == 1 ? product.depth : PACKED_DEPTH;
  for (let done = 0; done < product.depth; done += deepest) {
    const depth = min(product.depth - done, deepest);
    const most = (PACKED_FLOATS / depth) & ~3;
    block.depth = depth;
    block.b = product.b + ((<usize>(done * product.bRow)) << 2);
    for (let row = 0; row < rows; row += most) {
      const some = min(rows - row, most);
      const from = a + aRow * <usize>row + aDepth * <usize>done;
      if (aRow == 4) packSideBySide(depth, some, from, aDepth, packing);
      else packQuads(depth, some, from, aRow, packing);
      packedProduct(block, some, c + cRow * <usize>row, done > 0 ? RESUME : accumulate);
    }
  }
}

/** A copy of the product's record, at the end of this instance's scratch. */
function blockOf(product: Product): Product {
  const block = changetype<Product>(packing + (PACKED_FLOATS << 2));
  block.columns = product.columns;
  block.depth = product.depth;
  block.b = product.b;
  block.bRow = product.bRow;
  block.bPanel = product.bPanel;
  block.cRow = product.cRow;
  return block;
}

/** Multiplies the packed rows by all panels of B. */
function packedProduct(block: Product, rows: i32, c: usize, accumulate: i32): void {
  const cRow = (<usize>block.cRow) << 2;
  const bRow = (<usize>block.bRow) << 2;
  const bPanel = (<usize>block.bPanel) << 2;
  const depth = block.depth;
  const quad = (<usize>depth) << 4;
  let b = block.b;
  for (let columns = block.columns; columns > 0; columns -= 8) {
    let a = packing;
    let to = c;
    for (let i = rows; i > 0; i -= 4) {
      Tile.quad(depth, a, b, bRow, to, cRow, accumulate, columns < 8);
      a += quad;
      to += cRow << 2;
    }
    b += bPanel;
    c += 32;
  }
}

/** The product with A read where it lies: the rows left over after the blocks of four. */
function plainProduct(product: Product, rows: i32, a: usize, c: usize, accumulate: i32): void {
  const aRows3 = <usize>product.aRow * 12;
  const cRows3 = <usize>product.cRow * 12;
  let b = product.b;
  for (let columns = product.columns; columns > 0; columns -= 8) {
    const half = columns < 8;
    let i = rows;
    let ai = a;
    let ci = c;
    for (; i >= 3; i -= 3) {
      tile3(product, ai, b, ci, accumulate, half);
      ai += aRows3;
      ci += cRows3;
    }
    if (i == 2) tile2(product, ai, b, ci, accumulate, half);
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

function tile3(product: Product, a: usize, b: usize, c: usize, accumulate: i32, half: bool): void {
  Tile.multiply(3, product, a, b, c, accumulate, half);
}

function tile2(product: Product, a: usize, b: usize, c: usize, accumulate: i32, half: bool): void {
  Tile.multiply(2, product, a, b, c, accumulate, half);
}

function tile1(product: Product, a: usize, b: usize, c: usize, accumulate: i32, half: bool): void {
  Tile.multiply(1, product, a, b, c, accumulate, half);
}

class Tile {
  /**
   * A tile of 4 × 8: 8 sums, 2 vectors of B and 1 of A in registers. A tile of 5 × 8 would spill registers, of which V8
   * can use 15, and run at half the speed. So does a loop over two depths at a time, because V8 loads operands early,
   * and then has no registers for them. The function is inline because V8 unrolls a small loop that is the third of a
   * nest, with a branch between the depths. The four values of A at one depth lie side by side, at constant offsets
   * from one pointer: a fifth faster than a pointer for each row.
   *
   * Every sum runs over depth in order, here and in the smaller tiles.
   */
  @inline
  static quad(depth: i32, a: usize, b: usize, bRow: usize, c: usize, cRow: usize, accumulate: i32, half: bool): void {
    const c1 = c + cRow;
    const c2 = c1 + cRow;
    const c3 = c2 + cRow;
    let s00 = f32x4.splat(0);
    let s01 = s00;
    let s10 = s00;
    let s11 = s00;
    let s20 = s00;
    let s21 = s00;
    let s30 = s00;
    let s31 = s00;
    if (accumulate == RESUME) {
      s00 = v128.load(c);
      s01 = v128.load(c, 16);
      s10 = v128.load(c1);
      s11 = v128.load(c1, 16);
      s20 = v128.load(c2);
      s21 = v128.load(c2, 16);
      s30 = v128.load(c3);
      s31 = v128.load(c3, 16);
    }
    do {
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
      a += 16;
    } while (--depth);
    put(c, s00, s01, accumulate, half);
    put(c1, s10, s11, accumulate, half);
    put(c2, s20, s21, accumulate, half);
    put(c3, s30, s31, accumulate, half);
  }

  /** The smaller tiles: callers pass `rows` as a constant, so that the compiler drops the unused parts. */
  @inline
  static multiply(rows: i32, product: Product, a: usize, b: usize, c: usize, accumulate: i32, half: bool): void {
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
    let a1 = a + aRow;
    let a2 = a1 + aRow;
    for (let depth = product.depth; depth > 0; depth--) {
      const b0 = v128.load(b);
      const b1 = v128.load(b, 16);
      b += bRow;
      let x = v128.load32_splat(a);
      s00 = Lanes.multiplyAdd(x, b0, s00);
      s01 = Lanes.multiplyAdd(x, b1, s01);
      if (rows > 1) {
        x = v128.load32_splat(a1);
        s10 = Lanes.multiplyAdd(x, b0, s10);
        s11 = Lanes.multiplyAdd(x, b1, s11);
        a1 += aDepth;
      }
      if (rows > 2) {
        x = v128.load32_splat(a2);
        s20 = Lanes.multiplyAdd(x, b0, s20);
        s21 = Lanes.multiplyAdd(x, b1, s21);
        a2 += aDepth;
      }
      a += aDepth;
    }
    put(c, s00, s01, accumulate, half);
    if (rows > 1) put(c + cRow, s10, s11, accumulate, half);
    if (rows > 2) put(c + cRow * 2, s20, s21, accumulate, half);
  }
}

/** Writes one finished row of a tile into C. */
function put(c: usize, s0: v128, s1: v128, accumulate: i32, half: bool): void {
  if (accumulate == 1) s0 = f32x4.add(s0, v128.load(c));
  v128.store(c, s0);
  if (half) return;
  if (accumulate == 1) s1 = f32x4.add(s1, v128.load(c, 16));
  v128.store(c, s1, 16);
}
