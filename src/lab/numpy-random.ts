const size = 624;
const shift = 397;

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
  const next = mersenneTwister(seed);
  for (;;) {
    const value = (next() & mask) >>> 0;
    if (value <= largest) return value;
  }
}

/** 32-bit words of the Mersenne Twister (Matsumoto & Nishimura 1998) seeded by `init_genrand`. */
function mersenneTwister(seed: number): () => number {
  const words = seeded(seed);
  let at = size;
  return () => {
    if (at === size) {
      twist(words);
      at = 0;
    }
    let y = words[at++]!;
    y ^= y >>> 11;
    y ^= (y << 7) & 0x9d2c5680;
    y ^= (y << 15) & 0xefc60000;
    return (y ^ (y >>> 18)) >>> 0;
  };
}

function seeded(seed: number): Uint32Array {
  const words = new Uint32Array(size);
  words[0] = seed;
  for (let i = 1; i < size; i++) {
    const previous = words[i - 1]!;
    words[i] = Math.imul(1812433253, previous ^ (previous >>> 30)) + i;
  }
  return words;
}

function twist(words: Uint32Array): void {
  for (let i = 0; i < size; i++) {
    const y = (words[i]! & 0x80000000) | (words[(i + 1) % size]! & 0x7fffffff);
    words[i] = words[(i + shift) % size]! ^ (y >>> 1) ^ (y & 1 ? 0x9908b0df : 0);
  }
}
