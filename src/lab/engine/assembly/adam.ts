import { Lanes } from './lanes';
import { SQUARES_BYTES } from './memory';
import { AdamSettings } from './records';

/**
 * Takes one Adam step on `count` weights and zeroes the gradient. The bias corrections are in the settings: `step` =
 * learning rate · √(1 − β₂ᵗ) / (1 − β₁ᵗ), `epsilon` = ε · √(1 − β₂ᵗ). The host computes `fresh1` = 1 − β₁ and `fresh2`
 * = 1 − β₂ in double precision: 1 − 0.999 in single precision is off by 1e-5.
 *
 * @returns The result of `sumSquares` on the gradient before it is zeroed, to the bit.
 */
export function adam(count: i32, weights: usize, gradient: usize, m: usize, v: usize, settings: AdamSettings): f64 {
  const bytes = (<usize>count) << 2;
  const share1 = f32x4.splat(settings.fresh1);
  const share2 = f32x4.splat(settings.fresh2);
  const step4 = f32x4.splat(settings.step);
  const epsilon4 = f32x4.splat(settings.epsilon);
  const none = f32x4.splat(0);
  let squares: f64 = 0;
  for (let j: usize = 0; j < bytes;) {
    const stop = min(bytes, j + SQUARES_BYTES);
    let part = none;
    for (; j < stop; j += 16) {
      const g = v128.load(gradient + j);
      part = Lanes.multiplyAdd(g, g, part);
      const m0 = v128.load(m + j);
      const v0 = v128.load(v + j);
      const m1 = Lanes.multiplyAdd(share1, f32x4.sub(g, m0), m0);
      const v1 = Lanes.multiplyAdd(share2, f32x4.sub(f32x4.mul(g, g), v0), v0);
      const change = f32x4.div(f32x4.mul(step4, m1), f32x4.add(f32x4.sqrt(v1), epsilon4));
      v128.store(m + j, m1);
      v128.store(v + j, v1);
      v128.store(weights + j, f32x4.sub(v128.load(weights + j), change));
      v128.store(gradient + j, none);
    }
    squares += Lanes.sum(part);
  }
  return squares;
}
