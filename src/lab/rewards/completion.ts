import type { OwnCompletion } from '../own-modules.js';
import type { Params } from './params.js';

/** A model's answer to a prompt. `text`: without special tokens. `ids`: with the end token, if there is one. */
export type Completion = OwnCompletion;

/** Splits a lower-cased text at white space: `happy,` is one word, and differs from `happy`. */
export function wordsBetweenBlanks(text: string): string[] {
  return text
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '');
}

/** Number of occurrences of `part` in a text, ignoring case, without overlaps. `part`: not empty. */
export function occurrences(text: string, part: string): number {
  return text.toLowerCase().split(part.toLowerCase()).length - 1;
}

/** The call of a user's reward or detector, for errors. */
export const calledWith = 'it is called with completions, params and must not change them.';

/** Copies for a user's code to keep or change: the originals are scored and trained on afterwards. */
export function forOwn(completions: readonly Completion[], params: Params): readonly unknown[] {
  const copies = completions.map(({ ids, ...rest }) => Object.freeze({ ...rest, ids: Object.freeze([...ids]) }));
  return [Object.freeze(copies), structuredClone(params)];
}
