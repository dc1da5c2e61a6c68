/** One death of a supervisor: at the `n`-th operation of a place, or of its own time. */
export type Fault = { kind: 'at'; place: string; n: number; moment: string } | { kind: 'time'; afterMs: number };

const writes = ['journal-write', 'record-write', 'plan-write'];
const places = [
  ...writes,
  ...['any', 'journal-sync', 'journal-rename', 'record-rename', 'plan-rename', 'lock', 'claim', 'attempt', 'spawn'],
];
/** What happens seldom, or once in the life of a supervisor, must be met early. */
const early = ['journal-rename', 'plan-write', 'plan-rename', 'lock', 'claim'];

/**
 * Deaths without end, the same for the same seed. A third come at a random time, a third at each journal write in turn,
 * the rest at everything else a supervisor does to the disk or starts.
 */
export function* faults(seed: number): Generator<Fault, never> {
  const random = numbers(seed);
  const below = (limit: number) => Math.floor(random() * limit);
  for (let death = 0; ; death++) {
    if (death % 3 === 0) {
      yield { kind: 'time', afterMs: below(300) };
      continue;
    }
    const place = death % 3 === 1 ? 'journal-write' : places[below(places.length)]!;
    const n = death % 3 === 1 ? 1 + (Math.floor(death / 9) % 12) : 1 + below(early.includes(place) ? 3 : 10);
    const moments = writes.includes(place) || place === 'any' ? ['before', 'torn', 'after'] : ['before', 'after'];
    yield {
      kind: 'at',
      place,
      n,
      moment: moments[death % 3 === 1 ? Math.floor(death / 3) % 3 : below(moments.length)]!,
    };
  }
}

/** Numbers in [0, 1), the same for the same seed (mulberry32). */
export function numbers(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
