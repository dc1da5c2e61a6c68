import type { OwnCompletion } from '../own-modules.js';
import type { Episode } from '../environments/environment.js';
import type { Params } from './params.js';

/** What a model wrote after a prompt. `text`: without special tokens. `ids`: with the end token, if it was said. */
export type Completion = OwnCompletion;

/** An episode as rewards of texts see it; of several turns, what the policy said in all of them. */
export function completionOf({ task, turns }: Pick<Episode, 'task' | 'turns'>): Completion {
  const said = { text: turns.map(({ text }) => text).join('\n'), ids: turns.flatMap(({ tokens }) => [...tokens]) };
  return { prompt: task.text, ...said, ...(task.gold !== undefined && { gold: task.gold }) };
}

/** The parts of a lower-cased text between its blanks: `happy,` is one word, and not `happy`. */
export function wordsBetweenBlanks(text: string): string[] {
  return text
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '');
}

/** How often a text holds another, whatever the case, not counting what overlaps. `part`: not empty. */
export function occurrences(text: string, part: string): number {
  return text.toLowerCase().split(part.toLowerCase()).length - 1;
}

/** How a person's reward or detector is called, for errors. */
export const calledWith = 'it is called with completions, params and must not change them.';

/** Copies that a person's code may keep but not change: the same completions are scored and trained on afterwards. */
export function forOwn(completions: readonly Completion[], params: Params): readonly unknown[] {
  const copies = completions.map(({ ids, ...rest }) => Object.freeze({ ...rest, ids: Object.freeze([...ids]) }));
  return [Object.freeze(copies), structuredClone(params)];
}
