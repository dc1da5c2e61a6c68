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

/** The object with more fields, each worked out when it is read for the first time. */
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
