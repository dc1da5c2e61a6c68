/** The random numbers of Python's `random` and of NumPy's legacy generator, bit for bit. */
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
  const next = mersenneTwister(seeded(seed));
  for (;;) {
    const value = (next() & mask) >>> 0;
    if (value <= largest) return value;
  }
}

/** The methods of Python's `random.Random(seed)` that memory-rl uses. */
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

/**
 * 32-bit words of the Mersenne Twister MT19937 (Matsumoto & Nishimura 1998).
 *
 * @param words The generator's 624 words of state, from one of the two ways of seeding; they are changed.
 */
function mersenneTwister(words: Uint32Array): () => number {
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

/** `init_genrand`: how NumPy's legacy generator is seeded. @param seed 0 … 2³²−1. */
function seeded(seed: number): Uint32Array {
  const words = new Uint32Array(size);
  words[0] = seed;
  for (let i = 1; i < size; i++) words[i] = Math.imul(1812433253, mixBits(words[i - 1]!)) + i;
  return words;
}

/** `init_by_array`: how Python's `random` is seeded. @param key At least one word of 32 bits. */
function seededByArray(key: readonly number[]): Uint32Array {
  const words = seeded(19650218);
  let i = 1;
  const next = (value: number) => {
    words[i] = value;
    if (++i < size) return;
    words[0] = words[size - 1]!;
    i = 1;
  };
  for (let k = 0; k < Math.max(size, key.length); k++) {
    const j = k % key.length;
    next((words[i]! ^ Math.imul(mixBits(words[i - 1]!), 1664525)) + key[j]! + j);
  }
  for (let k = 1; k < size; k++) next((words[i]! ^ Math.imul(mixBits(words[i - 1]!), 1566083941)) - i);
  words[0] = 0x80000000;
  return words;
}

function mixBits(word: number): number {
  return word ^ (word >>> 30);
}

function twist(words: Uint32Array): void {
  for (let i = 0; i < size; i++) {
    const y = (words[i]! & 0x80000000) | (words[(i + 1) % size]! & 0x7fffffff);
    words[i] = words[(i + shift) % size]! ^ (y >>> 1) ^ (y & 1 ? 0x9908b0df : 0);
  }
}
