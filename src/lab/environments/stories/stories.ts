import { UserError } from '../../../base/user-error.js';
import { rng, shuffle } from '../../rng.js';
import type { Tokenizer } from '../../text/tokenizer.js';
import type { Environment, Response, Task } from '../environment.js';
import type { Split } from './corpus.js';
import { storiesFrom } from './story-source.js';

const ended: Response = { reward: { total: 0 }, next: null };

/** Beginnings of stories to be continued. Their rewards are added by `rewardedBy`. */
export function storyEnvironment(tokenizer: Tokenizer, beginnings: readonly string[]): Environment {
  const tasks = beginnings.map((text, index) => storyTask(`story-${index}`, text, tokenizer));
  return {
    name: 'stories',
    tokenizer,
    stop: { tokens: tokenizer.end === null ? [] : [tokenizer.end], strings: [] },
    size: tasks.length,
    task: (index) => tasks[index]!,
    respond: () => ended,
  };
}

/** Encodes without an end token, which would mark the story as finished. */
function storyTask(id: string, text: string, tokenizer: Tokenizer): Task {
  return { id, text, prompt: Int32Array.from(tokenizer.encode(text)) };
}

/** Source of beginnings of stories. */
type Source = {
  readonly data: string | null;
  readonly seed: number;
  readonly length: number;
  readonly dropShort: boolean;
};

/** Different beginnings of `length` tokens. @throws UserError when the stories do not yield enough. */
export function beginningsOf(
  { data, seed, length, dropShort }: Source,
  split: Split,
  count: number,
  tokenizer: Tokenizer,
): string[] {
  if (count === 0) return [];
  return storyPrompts(storiesFrom(data, split, seed), tokenizer, { count, length, seed, dropShort });
}

/** Options for making prompts from stories. */
type PromptOptions = {
  /** Number of different prompts. */
  readonly count: number;
  /** Tokens of each prompt. */
  readonly length: number;
  /** Seed of the order in which stories are taken. */
  readonly seed: number;
  /** Whether to skip stories of fewer tokens; otherwise a short story becomes a prompt as a whole. */
  readonly dropShort: boolean;
};

/** Stories shuffled at once, per prompt requested; `largestPool` limits them. */
const poolPerPrompt = 2;
const largestPool = 20_000;
/**
 * Share of new prompts below which a pool is barren. After `mostBarrenPools` barren pools in a row, or `largestPool`
 * stories in them, the source counts as exhausted.
 */
const leastNew = 0.01;
const mostBarrenPools = 20;

/**
 * Distinct prompts from the beginnings of stories, without the token that ends a text. Reads no more of an endless
 * source than it needs.
 *
 * @throws UserError when the stories do not yield enough prompts.
 */
export function storyPrompts(stories: Iterable<string>, tokenizer: Tokenizer, options: PromptOptions): string[] {
  const random = rng(options.seed, 'prompts');
  const prompts = new Set<string>();
  let barren = { pools: 0, stories: 0 };
  for (const pool of poolsOf(stories, Math.min(largestPool, poolPerPrompt * options.count))) {
    const before = prompts.size;
    for (const story of shuffle(pool, random)) {
      const prompt = promptOf(story, tokenizer, options);
      if (prompt !== null) prompts.add(prompt);
      if (prompts.size === options.count) return [...prompts];
    }
    const isBarren = prompts.size - before < leastNew * pool.length;
    barren = isBarren ? { pools: barren.pools + 1, stories: barren.stories + pool.length } : { pools: 0, stories: 0 };
    if (barren.pools === mostBarrenPools || barren.stories >= largestPool) break;
  }
  throw new UserError(
    `The stories begin in only ${prompts.size} different ways, and ${options.count} prompts are wanted.`,
    `Ask for fewer prompts, for longer ones than ${options.length} tokens, or give more stories.`,
  );
}

function promptOf(story: string, tokenizer: Tokenizer, { length, dropShort }: PromptOptions): string | null {
  const ids = tokenizer.encode(story).slice(0, length);
  if (dropShort && ids.length < length) return null;
  // The text of a story may contain that token's spelling.
  if (tokenizer.end !== null && ids.includes(tokenizer.end)) return null;
  const text = tokenizer.decodePlain(ids);
  return text === '' ? null : text;
}

/** Stories in groups of `size`; the last may be smaller. */
function* poolsOf(stories: Iterable<string>, size: number): Generator<string[]> {
  let pool: string[] = [];
  for (const story of stories) {
    pool.push(story);
    if (pool.length < size) continue;
    yield pool;
    pool = [];
  }
  if (pool.length > 0) yield pool;
}
