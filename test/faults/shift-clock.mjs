/**
 * Loaded into a supervisor (`node --import`), it sets the wall clock that the program sees off by `MEMRL_CLOCK_SHIFT_MS`
 * milliseconds (negative: back), from its first moment on, so that a life can begin in another time than the one before.
 * `Date.now()`, `new Date()` and `Date()` are off; the clocks that count from the boot (`performance.now()`,
 * `process.hrtime()`, `os.uptime()`), timers, and the times of files are the true ones, as after `date -s`.
 *
 * Without the variable nothing is changed. The variable is read once, at the start.
 */
const shift = Number(process.env.MEMRL_CLOCK_SHIFT_MS ?? 0);

if (shift !== 0) {
  const True = Date;
  globalThis.Date = new Proxy(True, {
    construct: (target, words, self) =>
      Reflect.construct(target, words.length === 0 ? [True.now() + shift] : words, self),
    apply: () => new True(True.now() + shift).toString(),
    get: (target, key, self) => (key === 'now' ? () => True.now() + shift : Reflect.get(target, key, self)),
  });
}
