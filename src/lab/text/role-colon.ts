import type { Message } from '../environments/memory/prompts.js';
import { beginning, ending, memoryTokenizer, tail } from './memory-vocabulary.js';

/** Messages of an example that are trained. */
type TrainedMessages = 'last assistant message' | 'all assistant messages';

/** One supervised sequence. `weights[i]` is 1 when token i is trained, else 0. */
export type Example = { readonly tokens: Int32Array; readonly weights: Uint8Array };

/** Text before the assistant's answer, its space included. */
const cue = 'Assistant: ';
const names = { system: 'System', user: 'User', assistant: 'Assistant' } as const;

/** The conversation as text, up to the start of the assistant's answer: `User: …\n\nAssistant: `. */
export function generationPrompt(messages: readonly Message[]): Int32Array {
  return Int32Array.from(memoryTokenizer.encode(`${beginning}${messages.map(messageText).join('')}${cue}`));
}

/** Tokens after a complete answer: the next message, and the cue for the assistant. */
export function continuationPrompt(next: Message): number[] {
  return memoryTokenizer.encode(`${messageText(next)}${cue}`);
}

/**
 * A whole conversation with its answers, as the default renderer of memory-rl (`role_colon`) writes it. After the last
 * answer comes `User:`, which is trained as well.
 *
 * Answers are encoded apart from the surrounding text, as the model itself would generate them.
 */
export function supervisedExample(messages: readonly Message[], trained: TrainedMessages): Example {
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
      unsaid += messageText(message);
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

/** The model's answer without the end of message; `complete` when that end was generated. */
export function response(ids: Int32Array, endId: number): { text: string; complete: boolean } {
  const complete = ids.at(-1) === endId;
  return { text: memoryTokenizer.decode(complete ? ids.subarray(0, -1) : ids), complete };
}

function messageText(message: Message): string {
  return `${names[message.role]}: ${message.content}${ending}`;
}
