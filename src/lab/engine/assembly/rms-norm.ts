import { Lanes } from './lanes';

/** y = x · scale · w with scale = 1/√(mean x² + epsilon), kept for the backward pass (one float a row). */
export function rmsNorm(rows: i32, width: i32, x: usize, w: usize, y: usize, scale: usize, epsilon: f32): void {
  const bytes = (<usize>width) << 2;
  for (; rows > 0; rows--) {
    let squares = f32x4.splat(0);
    for (let j: usize = 0; j < bytes; j += 16) squares = Lanes.multiplyAdd(v128.load(x + j), v128.load(x + j), squares);
    const s: f32 = <f32>1 / sqrt<f32>(Lanes.sum(squares) / <f32>width + epsilon);
    store<f32>(scale, s);
    const s4 = f32x4.splat(s);
    for (let j: usize = 0; j < bytes; j += 16) {
      v128.store(y + j, f32x4.mul(f32x4.mul(v128.load(x + j), s4), v128.load(w + j)));
    }
    scale += 4;
    x += bytes;
    y += bytes;
  }
}

/** dx += and dw += the derivatives through `rmsNorm`, given dy. */
export function rmsNormBackward(
  rows: i32,
  width: i32,
  dy: usize,
  x: usize,
  w: usize,
  scale: usize,
  dx: usize,
  dw: usize,
): void {
  const bytes = (<usize>width) << 2;
  for (; rows > 0; rows--) {
    const s = v128.load32_splat(scale);
    let dot = f32x4.splat(0);
    for (let j: usize = 0; j < bytes; j += 16) {
      const dyj = v128.load(dy + j);
      const normal = f32x4.mul(v128.load(x + j), s);
      v128.store(dw + j, Lanes.multiplyAdd(dyj, normal, v128.load(dw + j)));
      dot = Lanes.multiplyAdd(f32x4.mul(dyj, v128.load(w + j)), normal, dot);
    }
    const mean = f32x4.splat(-Lanes.sum(dot) / <f32>width);
    for (let j: usize = 0; j < bytes; j += 16) {
      const normal = f32x4.mul(v128.load(x + j), s);
      const inner = Lanes.multiplyAdd(normal, mean, f32x4.mul(v128.load(dy + j), v128.load(w + j)));
      v128.store(dx + j, Lanes.multiplyAdd(s, inner, v128.load(dx + j)));
    }
    scale += 4;
    dy += bytes;
    x += bytes;
    dx += bytes;
  }
}
