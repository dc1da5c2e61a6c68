/**
 * 1.5 · 2²³: added to a whole number below 2²² (negative ones too), it leaves that number in the last bits of the sum.
 */
const ROUNDER: f32 = 12_582_912;

/** SIMD operations on four floats that the instruction set lacks. */
export class Lanes {
  /** c + a·b, rounded twice: the fused instruction does not give the same bits on every processor. */
  @inline
  static multiplyAdd(a: v128, b: v128, c: v128): v128 {
    return f32x4.add(c, f32x4.mul(a, b));
  }

  /** (l0 + l2) + (l1 + l3). `sums4` adds in the same order, so both give the same bits. */
  @inline
  static sum(a: v128): f32 {
    const pair = f32x4.add(a, v128.shuffle<f32>(a, a, 2, 3, 0, 1));
    return f32x4.extract_lane(pair, 0) + f32x4.extract_lane(pair, 1);
  }

  /** The sums of four vectors, as one vector. */
  @inline
  static sums4(a: v128, b: v128, c: v128, d: v128): v128 {
    const ab = f32x4.add(v128.shuffle<f32>(a, b, 0, 1, 4, 5), v128.shuffle<f32>(a, b, 2, 3, 6, 7));
    const cd = f32x4.add(v128.shuffle<f32>(c, d, 0, 1, 4, 5), v128.shuffle<f32>(c, d, 2, 3, 6, 7));
    return f32x4.add(v128.shuffle<f32>(ab, cd, 0, 2, 4, 6), v128.shuffle<f32>(ab, cd, 1, 3, 5, 7));
  }

  @inline
  static max(a: v128): f32 {
    return max(
      max(f32x4.extract_lane(a, 0), f32x4.extract_lane(a, 1)),
      max(f32x4.extract_lane(a, 2), f32x4.extract_lane(a, 3)),
    );
  }

  /** e^x by Cephes' degree-5 polynomial, within 2 units in the last place; 0 where x < −87.3, NaN where x is. */
  @inline
  static exp(x: v128): v128 {
    // `pmax` and `pmin` keep a NaN that comes first, and are one instruction where `max` and `min` are nine.
    const bounded = f32x4.pmin(f32x4.pmax(x, f32x4.splat(-87.3)), f32x4.splat(88.0));
    // A float this large has no bits below 1, so the addition rounds to a whole number n, whose bits end the sum.
    const whole = f32x4.add(f32x4.mul(bounded, f32x4.splat(1.4426950408889634)), f32x4.splat(ROUNDER));
    const n = f32x4.sub(whole, f32x4.splat(ROUNDER));
    // ln 2 in two parts, so that n·ln 2 loses no digits.
    let r = f32x4.sub(bounded, f32x4.mul(n, f32x4.splat(0.693359375)));
    r = f32x4.sub(r, f32x4.mul(n, f32x4.splat(-2.1219444e-4)));
    let p = f32x4.splat(1.98756915e-4);
    p = Lanes.multiplyAdd(p, r, f32x4.splat(1.3981999507e-3));
    p = Lanes.multiplyAdd(p, r, f32x4.splat(8.3334519073e-3));
    p = Lanes.multiplyAdd(p, r, f32x4.splat(4.1665795894e-2));
    p = Lanes.multiplyAdd(p, r, f32x4.splat(1.6666665459e-1));
    p = Lanes.multiplyAdd(p, r, f32x4.splat(5.0000001201e-1));
    p = f32x4.add(Lanes.multiplyAdd(p, f32x4.mul(r, r), r), f32x4.splat(1));
    const power = i32x4.add(i32x4.shl(whole, 23), f32x4.splat(1));
    return v128.andnot(f32x4.mul(p, power), f32x4.lt(x, f32x4.splat(-87.3)));
  }

  @inline
  static sigmoid(x: v128): v128 {
    const one = f32x4.splat(1);
    return f32x4.div(one, f32x4.add(one, Lanes.exp(f32x4.neg(x))));
  }
}
