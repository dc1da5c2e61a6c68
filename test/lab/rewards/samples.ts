import { UserError } from '../../../src/base/user-error.js';
import type { Scores } from '../../../src/lab/rewards/scores.js';
import type { Completion } from '../../../src/lab/rewards/completion.js';
import type { Vocabulary } from '../../../src/lab/rewards/sentences.js';

/** The marks that end sentences, under their ids in the vocabulary of SimpleStories. */
export const marks = { '.': 15, '?': 30, '!': 2 } as const;
export const endOfText = 1;

/** A vocabulary of these tokens alone. */
export function vocabularyOf(tokens: Readonly<Record<string, number>>): Vocabulary {
  return {
    id: (token) => {
      const id = tokens[token];
      if (id === undefined) throw new UserError(`no token ${token}`, 'Give another.');
      return id;
    },
  };
}
export const vocabulary = vocabularyOf(marks);

/** Ids as the specification writes them: `5. 10?` is five tokens and a full stop, ten tokens and a question mark; `EOS` is 1. */
export function ids(written: string): number[] {
  return written.split(' ').flatMap((part) => {
    if (part === 'EOS') return [endOfText];
    const [, count, mark] = /^(\d*)([.?!]?)$/.exec(part)!;
    const fillers = Array.from({ length: Number(count) }, (_, at) => 100 + at);
    return mark === '' ? fillers : [...fillers, marks[mark as keyof typeof marks]];
  });
}

export function ofText(text: string): Completion {
  return { prompt: 'one day', text, ids: [] };
}

export function ofIds(written: string, text = ''): Completion {
  return { prompt: 'one day', text, ids: ids(written) };
}

/** Of a batch without components. */
export function noScores(completions: readonly Completion[]): Scores {
  const rewards = completions.map(() => 0);
  return { rewards, retain: rewards, plain: rewards, components: [], groupSize: 1 };
}

/** The problem and the fix of the UserError that this throws. */
export async function mistake(work: () => unknown): Promise<string> {
  try {
    await work();
  } catch (error) {
    if (error instanceof UserError) return `${error.message} → ${error.fix}`;
    throw error;
  }
  throw new Error('Nothing was refused.');
}
