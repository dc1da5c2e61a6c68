import { type AnswerFormat, writeAnswer } from './answer-format.js';
import { dialogue } from './memory-environment.js';
import { singleStepPrompt } from './prompts.js';
import { bitLength } from './rules.js';
import type { Rng } from '../../rng.js';
import { supervisedExample, type Example } from '../../text/role-colon.js';

/**
 * Answers to the single-step question, uniform over [0, N): one from each of `count` equal intervals, so that a batch
 * shows each leading digit as often as it should and the gradient is far less noisy than with independent draws.
 */
export function uniformNumbers(N: number, count: number, random: Rng, format: AnswerFormat = 'decimal'): Example[] {
  return Array.from({ length: count }, (_, stretch) => {
    const value = Math.min(N - 1, Math.floor((N * (stretch + random.next())) / count));
    return numberExample(N, value, format);
  });
}

/** Conversations with uniform bits, in pairs of opposites, so that each bit is 0 exactly half the time. */
export function uniformBits(N: number, count: number, random: Rng): Example[] {
  const examples: Example[] = [];
  while (examples.length < count) {
    const bits = Array.from({ length: bitLength(N) }, () => random.below(2));
    examples.push(
      bitsExample(N, bits),
      bitsExample(
        N,
        bits.map((bit) => 1 - bit),
      ),
    );
  }
  return examples;
}

/** The question with this number as its answer. */
export function numberExample(N: number, value: number, format: AnswerFormat = 'decimal'): Example {
  return supervisedExample(
    [singleStepPrompt(N), { role: 'assistant', content: writeAnswer(value, N, format) }],
    'last assistant message',
  );
}

/** The conversation with these bits as its answers. */
export function bitsExample(N: number, bits: readonly number[]): Example {
  return supervisedExample(dialogue(N, bits), 'all assistant messages');
}
