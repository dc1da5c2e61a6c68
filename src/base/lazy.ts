/** A value that is computed on first use and then kept. */
export function lazy<T>(make: () => T): () => T {
  let made: { readonly value: T } | null = null;
  return () => (made ??= { value: make() }).value;
}

/**
 * Milliseconds to the next whole second. Timers with a period of about a second are aligned to it, so that they wake the processor
 * together.
 *
 * @param now Time by a clock that all of them share: `performance.now()`.
 */
export function untilWholeSecond(now: number): number {
  return 1000 - (Math.ceil(now) % 1000);
}

/** Adds fields to an object that are computed on first read. */
export function withLazy<Known extends object, Later extends object>(
  known: Known,
  later: { readonly [Key in keyof Later]: () => Later[Key] },
): Known & Later {
  for (const key of Object.keys(later) as (keyof Later & string)[]) {
    const define = (field: PropertyDescriptor): void => {
      Object.defineProperty(known, key, { ...field, enumerable: true, configurable: true });
    };
    define({
      get: () => {
        const value = later[key]();
        define({ value });
        return value;
      },
    });
  }
  return known as Known & Later;
}
