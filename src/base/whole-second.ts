/**
 * From now to the next whole second, ms. Whoever looks about once a second does so then, so that all of them wake the
 * processor once, and not each for itself.
 *
 * @param now Of a clock that all of them use: `performance.now()`.
 */
export function untilWholeSecond(now: number): number {
  return 1000 - (Math.ceil(now) % 1000);
}
