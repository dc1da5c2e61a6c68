import { mersenneTwister, seeded } from './mersenne-twister.js';

/**
 * `numpy.random.RandomState(seed).randint(0, bound)`: the first draw of NumPy's legacy generator (MT19937, masked
 * rejection), so that a secret drawn from a seed is the same number as in the Python original.
 *
 * @param seed 0 … 2³²−1.
 * @param bound 1 … 2³².
 */
export function numpyRandint(seed: number, bound: number): number {
  const largest = bound - 1;
  if (largest === 0) return 0;
  const mask = 2 ** Math.ceil(Math.log2(bound)) - 1;
  const next = mersenneTwister(seeded(seed));
  for (;;) {
    const value = (next() & mask) >>> 0;
    if (value <= largest) return value;
  }
}
