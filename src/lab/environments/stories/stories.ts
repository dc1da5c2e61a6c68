import type { Tokenizer } from '../../text/tokenizer.js';
import type { Environment, Response, Task } from '../environment.js';
import type { Split } from './corpus.js';
import { storyPrompts } from './prompts.js';
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
