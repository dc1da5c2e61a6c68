import type { Scene } from '../scene.js';

const DAY_MS = 86_400_000;
/** What the wall clock of a program may be off by, ms: daylight saving, a wrong zone, a machine without a battery. */
const SHIFTS_MS = [0, 0, 2 * DAY_MS, -3_600_000, 365 * DAY_MS, 0, -2 * DAY_MS];

/** Every program that is started from now on lives in a time of its own: between two supervisors the wall clock has jumped. */
export function letTheClockJump(scene: Scene): void {
  scene.give('MEMRL_CLOCK_SHIFT_MS', () => String(SHIFTS_MS[scene.below(SHIFTS_MS.length)]!));
}
