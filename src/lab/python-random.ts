import { mersenneTwister, seededByArray } from './mersenne-twister.js';

/** The methods of Python's `random.Random(seed)` that the source system uses. */
type PythonRandom = {
  /** Shuffles in place, as `random.Random.shuffle` of Python 3.2 and later does. */
  readonly shuffle: (items: unknown[]) => void;
};

/** @param seed 0 … 2³²−1. */
export function pythonRandom(seed: number): PythonRandom {
  const next = mersenneTwister(seededByArray([seed]));
  // `_randbelow`: draws as many bits as the bound has, until they are below it.
  const below = (bound: number) => {
    const spare = Math.clz32(bound);
    for (;;) {
      const value = next() >>> spare;
      if (value < bound) return value;
    }
  };
  const shuffle = (items: unknown[]) => {
    for (let i = items.length - 1; i >= 1; i--) {
      const j = below(i + 1);
      [items[i], items[j]] = [items[j], items[i]];
    }
  };
  return { shuffle };
}
