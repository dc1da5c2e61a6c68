/** A sequence that will grow by at most `room` tokens. */
type Growing = { readonly prompt: Int32Array; readonly room: number };

/** A prompt, the sequences that follow it, and how many of its first tokens are copied from the family before it. */
type Family<S> = { readonly prompt: Int32Array; readonly sequences: readonly S[]; readonly common: number };

/** A family and its rows of the cache: those of its prompt, of the prompt it copies from, and of each sequence. */
export type Placed<S> = Family<S> & { readonly row: number; readonly copyOf: number; readonly own: readonly number[] };

/** Families that grow side by side, and how many rows of cache they take. */
export type Wave<S> = { readonly families: readonly Placed<S>[]; readonly rows: number };

/**
 * Groups sequences by prompt, and cuts the whole into waves of bounded size; a large family may be in several, each
 * with the prompt anew. Prompts are in lexical order, so that prompts with a common prefix are neighbours.
 *
 * @param most Limit of a wave's cost: `perRow` for each row of cache and `perSequence` for each sequence. A sequence
 * that is too large is a wave of its own.
 */
export function plan<S extends Growing>(
  sequences: readonly S[],
  cost: { readonly perRow: number; readonly perSequence: number; readonly most: number },
): Wave<S>[] {
  const waves: S[][] = [];
  let left = 0;
  for (const alike of byPrompt(sequences)) {
    let isNew = true;
    for (const sequence of alike) {
      const own = cost.perSequence + cost.perRow * sequence.room;
      const withPrompt = own + cost.perRow * sequence.prompt.length;
      if (waves.length === 0 || (isNew ? withPrompt : own) > left) {
        waves.push([]);
        left = cost.most;
        isNew = true;
      }
      waves.at(-1)!.push(sequence);
      left -= isNew ? withPrompt : own;
      isNew = false;
    }
  }
  return waves.map((wave) => place(families(wave)));
}

/** Families whose prompts are computed together: as many as fit in `rows` tokens, at least one. */
export function passes<S>(placed: readonly Placed<S>[], rows: number): Placed<S>[][] {
  const all: Placed<S>[][] = [];
  let taken = Infinity;
  for (const family of placed) {
    const unseen = family.prompt.length - family.common;
    if (taken + unseen > rows) {
      all.push([]);
      taken = 0;
    }
    all.at(-1)!.push(family);
    taken += unseen;
  }
  return all;
}

/** Sequences of one prompt, in their order, prompt by prompt. */
function byPrompt<S extends Growing>(sequences: readonly S[]): S[][] {
  const known = new Map<string, S[]>();
  for (const sequence of sequences) {
    const key = sequence.prompt.join();
    const alike = known.get(key);
    if (alike === undefined) known.set(key, [sequence]);
    else alike.push(sequence);
  }
  return [...known.values()].sort((a, b) => compare(a[0]!.prompt, b[0]!.prompt));
}

/** @param wave Prompt by prompt. */
function families<S extends Growing>(wave: readonly S[]): Family<S>[] {
  return byPrompt(wave).map((sequences, index, all) => {
    const { prompt } = sequences[0]!;
    const before = all[index - 1]?.[0]!.prompt ?? new Int32Array(0);
    // Never the whole prompt: of two with a common prefix the shorter comes first.
    return { prompt, sequences, common: sameTokens(before, prompt) };
  });
}

function place<S extends Growing>(wave: readonly Family<S>[]): Wave<S> {
  let rows = 0;
  let copyOf = 0;
  const take = (count: number): number => {
    rows += count;
    return rows - count;
  };
  const placed = wave.map((family) => {
    const row = take(family.prompt.length);
    // The last token of a sequence is never fed back.
    const whole = { ...family, row, copyOf, own: family.sequences.map(({ room }) => take(room - 1)) };
    copyOf = row;
    return whole;
  });
  return { families: placed, rows };
}

function compare(a: Int32Array, b: Int32Array): number {
  const same = sameTokens(a, b);
  return same === Math.min(a.length, b.length) ? a.length - b.length : a[same]! - b[same]!;
}

function sameTokens(a: Int32Array, b: Int32Array): number {
  let same = 0;
  while (same < a.length && same < b.length && a[same] === b[same]) same++;
  return same;
}
