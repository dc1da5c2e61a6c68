import { bitLength } from './rules.js';

export type Message = { readonly role: 'system' | 'user' | 'assistant'; readonly content: string };

/** The single-step question. Word for word that of memory-rl: it is part of the experiment's interface. */
export function singleStepPrompt(N: number): Message {
  const rules = `You are playing a memorization game. There is a secret integer between 0 and ${N - 1}. Output ONLY the integer, on the first line, with NO extra text.`;
  return { role: 'user', content: `${rules}\nWhat is the secret number?` };
}

/** The system message before the first request for a bit. */
export function multiStepSystem(N: number): Message {
  const content = `You are playing a bit-by-bit memorization game. The secret number is between 0 and ${N - 1} and uses ${bitLength(N)} bits. Output exactly one bit (0 or 1) per response with no punctuation.`;
  return { role: 'system', content };
}

/** The request for one bit. @param position From 0, the most significant bit first. */
export function bitRequest(N: number, position: number): Message {
  const remaining = bitLength(N) - position - 1;
  return { role: 'user', content: `Provide bit #${position + 1}. Remaining bits after this: ${remaining}.` };
}

/** The optional "standard" demonstration of the format. In multi-step it repeats the first turn, and so favours 0. */
export function standardPrefix(N: number, kind: 'single_step' | 'multi_step'): readonly Message[] {
  const question = kind === 'single_step' ? singleStepPrompt(N) : bitRequest(N, 0);
  return [question, { role: 'assistant', content: '0' }];
}
