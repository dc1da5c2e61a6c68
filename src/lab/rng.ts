/** A stream of random numbers, fully determined by its state. */
export type Rng = {
  /** The next number, uniform in [0, 1), of 32 random bits. */
  next(): number;
  /** A whole number in [0, bound). */
  below(bound: number): number;
  /** The state to continue from, bit for bit; plain JSON. */
  state(): RngState;
};

type RngState = readonly [number, number, number, number];

/**
 * A stream named by its purpose, e.g. `rng(seed, 'sampling')`. Streams of different names share nothing, so one more
 * draw in one of them leaves the others as they were.
 */
export function rng(seed: number, purpose: string): Rng {
  const stream = resumeRng(seedState(`${seed}/${purpose}`));
  // The first outputs of sfc32 still show its seed.
  for (let skipped = 0; skipped < 15; skipped++) stream.next();
  return stream;
}

/** The stream that had this state. The generator is sfc32 (Chris Doty-Humphrey, PractRand). */
export function resumeRng(state: RngState): Rng {
  let [a, b, c, counter] = state;
  const next = () => {
    const sum = (((a + b) | 0) + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (((c << 21) | (c >>> 11)) + sum) | 0;
    return (sum >>> 0) / 4294967296;
  };
  return { next, below: (bound) => Math.floor(next() * bound), state: () => [a, b, c, counter] };
}

/** Shuffles in place, uniformly (Fisher-Yates). */
export function shuffle<T>(items: T[], random: Rng): T[] {
  for (let last = items.length - 1; last > 0; last--) {
    const other = random.below(last + 1);
    [items[last], items[other]] = [items[other]!, items[last]!];
  }
  return items;
}

/** Four words of a hash of the text (xmur3). */
function seedState(text: string): RngState {
  let hash = 1779033703 ^ text.length;
  for (let at = 0; at < text.length; at++) {
    hash = Math.imul(hash ^ text.charCodeAt(at), 3432918353);
    hash = (hash << 13) | (hash >>> 19);
  }
  const word = () => {
    hash = Math.imul(hash ^ (hash >>> 16), 2246822507);
    hash = Math.imul(hash ^ (hash >>> 13), 3266489909);
    return (hash ^= hash >>> 16) | 0;
  };
  return [word(), word(), word(), 1];
}
