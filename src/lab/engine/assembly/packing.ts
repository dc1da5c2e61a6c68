// Packing of the factors of `gemm` into the order in which it reads them.

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
    transpose4(depth, from, stride, to, 32);
    transpose4(depth, from + stride * 4, stride, to + 16, 32);
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

/** Packs rows of A by fours: [rows / 4 × depth × 4]. `stride` is in bytes. */
export function packQuads(depth: i32, rows: i32, from: usize, stride: usize, to: usize): void {
  const whole = depth & ~3;
  for (; rows > 0; rows -= 4) {
    transpose4(whole, from, stride, to, 16);
    let source = from + ((<usize>whole) << 2);
    to += (<usize>whole) << 4;
    for (let k = whole; k < depth; k++) {
      for (let i: usize = 0; i < 4; i++) store<f32>(to + (i << 2), load<f32>(source + stride * i));
      source += 4;
      to += 16;
    }
    from += stride * 4;
  }
}

/**
 * Packs Aᵀ by fours: each row of `from` [depth × columns] has the numbers that lie side by side. A line of the cache
 * is read at once.
 */
export function packSideBySide(depth: i32, columns: i32, from: usize, stride: usize, to: usize): void {
  const quadBytes = (<usize>depth) << 4;
  for (; columns >= 16; columns -= 16) {
    let row = from;
    for (let k = depth; k > 0; k--) {
      v128.store(to, v128.load(row));
      v128.store(to + quadBytes, v128.load(row, 16));
      v128.store(to + quadBytes * 2, v128.load(row, 32));
      v128.store(to + quadBytes * 3, v128.load(row, 48));
      row += stride;
      to += 16;
    }
    from += 64;
    to += quadBytes * 3;
  }
  for (; columns > 0; columns -= 4) {
    let row = from;
    for (let k = depth; k > 0; k--) {
      v128.store(to, v128.load(row));
      row += stride;
      to += 16;
    }
    from += 16;
  }
}

/** Four rows of `from` become four columns, `step` bytes from one row of them to the next. */
function transpose4(depth: i32, from: usize, stride: usize, to: usize, step: usize): void {
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
    v128.store(to + step, v128.shuffle<f32>(ab0, cd0, 2, 3, 6, 7));
    v128.store(to + step * 2, v128.shuffle<f32>(ab1, cd1, 0, 1, 4, 5));
    v128.store(to + step * 3, v128.shuffle<f32>(ab1, cd1, 2, 3, 6, 7));
    from += 16;
    r1 += 16;
    r2 += 16;
    r3 += 16;
    to += step * 4;
  }
}
