import { UserError } from '../../../base/user-error.js';
import { rng, shuffle } from '../../rng.js';
import type { Tokenizer } from '../../text/tokenizer.js';

/** How prompts are made. */
type Wish = {
  /** Different prompts. */
  readonly count: number;
  /** Tokens of each. */
  readonly length: number;
  /** Of the order in which stories are taken. */
  readonly seed: number;
  /** Whether a story of fewer tokens is passed over; else it is a prompt as a whole. */
  readonly dropShort: boolean;
};

/** So many stories are shuffled at once for each prompt that is wanted, and at most. */
const poolPerPrompt = 2;
const largestPool = 20_000;
/** A pool of which fewer are new has nothing more to give; so many of them in a row, or so many stories, and the source has not. */
const leastNew = 0.01;
const mostBarrenPools = 20;

/**
 * The beginnings of stories as texts, no two alike and none with the token that ends a text. Of a source without end no
 * more is read than is needed.
 *
 * @throws UserError when the stories do not give so many.
 */
export function storyPrompts(stories: Iterable<string>, tokenizer: Tokenizer, wish: Wish): string[] {
  const random = rng(wish.seed, 'prompts');
  const prompts = new Set<string>();
  let barren = { pools: 0, stories: 0 };
  for (const pool of pooled(stories, Math.min(largestPool, poolPerPrompt * wish.count))) {
    const before = prompts.size;
    for (const story of shuffle(pool, random)) {
      const prompt = promptOf(story, tokenizer, wish);
      if (prompt !== null) prompts.add(prompt);
      if (prompts.size === wish.count) return [...prompts];
    }
    const isBarren = prompts.size - before < leastNew * pool.length;
    barren = isBarren ? { pools: barren.pools + 1, stories: barren.stories + pool.length } : { pools: 0, stories: 0 };
    if (barren.pools === mostBarrenPools || barren.stories >= largestPool) break;
  }
  throw new UserError(
    `The stories begin in only ${prompts.size} different ways, and ${wish.count} prompts are wanted.`,
    `Ask for fewer prompts, for longer ones than ${wish.length} tokens, or give more stories.`,
  );
}

function promptOf(story: string, tokenizer: Tokenizer, { length, dropShort }: Wish): string | null {
  const ids = tokenizer.encode(story).slice(0, length);
  if (dropShort && ids.length < length) return null;
  // A text may spell that token out.
  if (tokenizer.end !== null && ids.includes(tokenizer.end)) return null;
  const text = tokenizer.decodePlain(ids);
  return text === '' ? null : text;
}

/** Stories in groups of `size`; the last may be smaller. */
function* pooled(stories: Iterable<string>, size: number): Generator<string[]> {
  let pool: string[] = [];
  for (const story of stories) {
    pool.push(story);
    if (pool.length < size) continue;
    yield pool;
    pool = [];
  }
  if (pool.length > 0) yield pool;
}
