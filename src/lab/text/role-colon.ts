import type { Message } from '../environments/memory/prompts.js';
import { beginning, ending, memoryTokenizer, tail } from './memory-vocabulary.js';

/** Which messages of an example are learnt. */
type Trained = 'last assistant message' | 'all assistant messages';

/** One supervised sequence. `weights[i]` is 1 where token i is to be predicted, else 0. */
export type Example = { readonly tokens: Int32Array; readonly weights: Uint8Array };

/** What the assistant's answer follows, its space included. */
const cue = 'Assistant: ';
const names = { system: 'System', user: 'User', assistant: 'Assistant' } as const;

/** The conversation as text, up to the point where the assistant speaks: `User: …\n\nAssistant: `. */
export function generationPrompt(messages: readonly Message[]): Int32Array {
  return Int32Array.from(memoryTokenizer.encode(`${beginning}${messages.map(written).join('')}${cue}`));
}

/** What follows an answer that is complete: the next message, and the cue to speak. */
export function continuationPrompt(next: Message): number[] {
  return memoryTokenizer.encode(`${written(next)}${cue}`);
}

/**
 * A whole conversation with its answers, as the source system's default renderer writes it. The last answer is
 * followed by the tail `User:`, which is learnt with it.
 *
 * Answers are encoded apart from what surrounds them, as the model itself would have said them.
 */
export function supervisedExample(messages: readonly Message[], trained: Trained): Example {
  const tokens: number[] = [];
  const weights: number[] = [];
  const add = (text: string, weight: 0 | 1) => {
    const ids = memoryTokenizer.encode(text);
    tokens.push(...ids);
    weights.push(...ids.map(() => weight));
  };
  let unsaid: string = beginning;
  messages.forEach((message, index) => {
    if (message.role !== 'assistant') {
      unsaid += written(message);
      return;
    }
    const last = index === messages.length - 1;
    const weight = last || trained === 'all assistant messages' ? 1 : 0;
    add(`${unsaid}${cue}`, 0);
    unsaid = '';
    add(message.content, weight);
    add(ending, weight);
    if (last) add(tail, weight);
  });
  return { tokens: Int32Array.from(tokens), weights: Uint8Array.from(weights) };
}

/** The first tokens of an example, `length` at most. */
export function truncated({ tokens, weights }: Example, length: number): Example {
  return { tokens: tokens.slice(0, length), weights: weights.slice(0, length) };
}

/** What the model said, without the end of message; `complete` when it said that end. */
export function response(ids: Int32Array, endId: number): { text: string; complete: boolean } {
  const complete = ids.at(-1) === endId;
  return { text: memoryTokenizer.decode(complete ? ids.subarray(0, -1) : ids), complete };
}

function written(message: Message): string {
  return `${names[message.role]}: ${message.content}${ending}`;
}
