const size = 624;
const shift = 397;

/**
 * 32-bit words of the Mersenne Twister MT19937 (Matsumoto & Nishimura 1998).
 *
 * @param words The generator's 624 words of state, from one of the two ways of seeding; they are changed.
 */
export function mersenneTwister(words: Uint32Array): () => number {
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
export function seeded(seed: number): Uint32Array {
  const words = new Uint32Array(size);
  words[0] = seed;
  for (let i = 1; i < size; i++) words[i] = Math.imul(1812433253, mixed(words[i - 1]!)) + i;
  return words;
}

/** `init_by_array`: how Python's `random` is seeded. @param key At least one word of 32 bits. */
export function seededByArray(key: readonly number[]): Uint32Array {
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
    next((words[i]! ^ Math.imul(mixed(words[i - 1]!), 1664525)) + key[j]! + j);
  }
  for (let k = 1; k < size; k++) next((words[i]! ^ Math.imul(mixed(words[i - 1]!), 1566083941)) - i);
  words[0] = 0x80000000;
  return words;
}

function mixed(word: number): number {
  return word ^ (word >>> 30);
}

function twist(words: Uint32Array): void {
  for (let i = 0; i < size; i++) {
    const y = (words[i]! & 0x80000000) | (words[(i + 1) % size]! & 0x7fffffff);
    words[i] = words[(i + shift) % size]! ^ (y >>> 1) ^ (y & 1 ? 0x9908b0df : 0);
  }
}
