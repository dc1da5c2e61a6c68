import { Lanes } from './lanes';

/** y = silu(gate) · up. A row of `gateUp` is [gate | up], each `width` floats. */
export function swiglu(rows: i32, width: i32, gateUp: usize, y: usize): void {
  const bytes = (<usize>width) << 2;
  for (; rows > 0; rows--) {
    const up = gateUp + bytes;
    for (let j: usize = 0; j < bytes; j += 16) {
      const gate = v128.load(gateUp + j);
      const one = f32x4.splat(1);
      const denominator = f32x4.add(one, Lanes.exp(f32x4.neg(gate)));
      v128.store(y + j, f32x4.div(f32x4.mul(gate, v128.load(up + j)), denominator));
    }
    gateUp = up + bytes;
    y += bytes;
  }
}

/** dGateUp = the derivative w.r.t. `gateUp`, given dy. */
export function swigluBackward(rows: i32, width: i32, dy: usize, gateUp: usize, dGateUp: usize): void {
  const bytes = (<usize>width) << 2;
  const one = f32x4.splat(1);
  for (; rows > 0; rows--) {
    const up = gateUp + bytes;
    for (let j: usize = 0; j < bytes; j += 16) {
      const gate = v128.load(gateUp + j);
      const d = v128.load(dy + j);
      const sigmoid = Lanes.sigmoid(gate);
      const silu = f32x4.mul(gate, sigmoid);
      const slope = f32x4.add(sigmoid, f32x4.mul(silu, f32x4.sub(one, sigmoid)));
      v128.store(dGateUp + j, f32x4.mul(f32x4.mul(d, v128.load(up + j)), slope));
      v128.store(dGateUp + bytes + j, f32x4.mul(d, silu));
    }
    gateUp = up + bytes;
    dGateUp += 2 * bytes;
    dy += bytes;
  }
}
