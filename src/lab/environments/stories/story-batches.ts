import { UserError } from '../../../base/user-error.js';
import { rng, shuffle } from '../../rng.js';
import type { Example } from '../../text/role-colon.js';
import type { Tokenizer } from '../../text/tokenizer.js';
import { story, type Split } from './corpus.js';
import { storiesFrom } from './story-source.js';

/** Options for turning stories into sequences. */
type SequenceOptions = { readonly tokenizer: Tokenizer; readonly end: number; readonly context: number };

/**
 * A story as one sequence: its tokens and the end token, cut to the context. All tokens but the first are trained; the
 * first has nothing before it.
 */
export function storyExample(text: string, { tokenizer, end, context }: SequenceOptions): Example {
  const tokens = Int32Array.from([...tokenizer.encode(text), end].slice(0, context));
  return { tokens, weights: Uint8Array.from(tokens, (_, at) => (at === 0 ? 0 : 1)) };
}

/** Source of a step's batch. `stories`: number of stories of all steps together. */
type BatchOptions = {
  readonly path: string | null;
  readonly seed: number;
  readonly size: number;
  readonly stories: number;
};

/**
 * The examples of any step. The grammar has a new story for each; a file's come in its order and, once it is used up,
 * shuffled anew in each pass. No step depends on the number of steps.
 *
 * @throws UserError when the file has no story to train on.
 */
export function storyBatches(wanted: BatchOptions, rows: SequenceOptions): (step: number) => Example[] {
  const { path, seed, size } = wanted;
  const of = path === null ? (index: number) => written(index) : fromFile(path, wanted, rows);
  return (step) => Array.from({ length: size }, (_, row) => of(step * size + row));

  function written(index: number): Example {
    return storyExample(story(seed, 'train', index), rows);
  }
}

/** The first stories of a split, for evaluation. @throws UserError when there are none. */
export function firstExamples(
  { path, seed, count, split }: { path: string | null; seed: number; count: number; split: Split },
  rows: SequenceOptions,
): Example[] {
  return examplesOf(path, split, { seed, count }, rows);
}

function fromFile(
  path: string,
  { seed, stories: count }: BatchOptions,
  rows: SequenceOptions,
): (index: number) => Example {
  const examples = examplesOf(path, 'train', { seed, count }, rows);
  let known = { pass: 0, order: [...examples.keys()] };
  return (index) => {
    const pass = Math.floor(index / examples.length);
    if (known.pass !== pass) {
      const order = [...examples.keys()];
      known = { pass, order: pass === 0 ? order : shuffle(order, rng(seed, `stories/${pass}`)) };
    }
    return examples[known.order[index % examples.length]!]!;
  };
}

function examplesOf(
  path: string | null,
  split: Split,
  { seed, count }: { seed: number; count: number },
  rows: SequenceOptions,
): Example[] {
  const examples: Example[] = [];
  for (const text of storiesFrom(path, split, seed)) {
    const example = storyExample(text, rows);
    // A story with nothing but its end, or cut to one token by the context, has nothing to train on.
    if (example.tokens.length > 1) examples.push(example);
    if (examples.length >= count) return examples;
  }
  if (examples.length > 0) return examples;
  throw new UserError(`${path} holds no story of more than one token.`, 'Give longer stories.');
}
