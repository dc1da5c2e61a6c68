import { Rotation } from './records';

/**
 * Rotates, in place, the first heads of each row by the row's position: element j of a head's first half pairs with
 * element j of its second half (the Hugging Face convention). A head's width is a multiple of 4.
 *
 * @param positions One i32 a row.
 * @param direction 1 forward, −1 for the derivative (the inverse rotation).
 */
export function rope(rotation: Rotation, rows: i32, x: usize, positions: usize, direction: f32): void {
  const heads = rotation.heads;
  const half = (<usize>(rotation.headWidth >> 1)) << 2;
  const xRow = (<usize>rotation.row) << 2;
  const cos = rotation.cos;
  const sin = rotation.sin;
  const whole = half & ~15;
  const sign = f32x4.splat(direction);
  for (; rows > 0; rows--) {
    const cosRow = cos + half * <usize>load<i32>(positions);
    const sinRow = sin + half * <usize>load<i32>(positions);
    let head = x;
    for (let h = 0; h < heads; h++) {
      const other = head + half;
      let j: usize = 0;
      for (; j < whole; j += 16) {
        const c = v128.load(cosRow + j);
        const s = f32x4.mul(v128.load(sinRow + j), sign);
        const a = v128.load(head + j);
        const b = v128.load(other + j);
        v128.store(head + j, f32x4.sub(f32x4.mul(a, c), f32x4.mul(b, s)));
        v128.store(other + j, f32x4.add(f32x4.mul(b, c), f32x4.mul(a, s)));
      }
      // Heads of 4, 12, … floats have a half of 2 more than a multiple of 4.
      for (; j < half; j += 4) {
        const c = load<f32>(cosRow + j);
        const s = load<f32>(sinRow + j) * direction;
        const a = load<f32>(head + j);
        const b = load<f32>(other + j);
        store<f32>(head + j, a * c - b * s);
        store<f32>(other + j, b * c + a * s);
      }
      head = other + half;
    }
    positions += 4;
    x += xRow;
  }
}
