/** A value that is made when it is first asked for, and then kept. */
export function lazy<T>(make: () => T): () => T {
  let made: { readonly value: T } | null = null;
  return () => (made ??= { value: make() }).value;
}

/**
 * From now to the next whole second, ms. Whoever looks about once a second does so then, so that all of them wake the
 * processor once, and not each for itself.
 *
 * @param now Of a clock that all of them use: `performance.now()`.
 */
export function untilWholeSecond(now: number): number {
  return 1000 - (Math.ceil(now) % 1000);
}
