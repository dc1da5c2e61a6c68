/**
 * Many secrets in one model: the prompt names one of them, and only rewards tell it. Capacity, interference and
 * forgetting can be measured, since the number of secrets varies while the task stays the same.
 */
import * as z from 'zod';
import { count } from '../../rewards/params.js';
import type { TextEnvironment } from '../../own-modules.js';
import { rng } from '../../rng.js';

export const manySecretsParams = {
  secrets: count.min(1).max(100).default(4),
  N: count.min(2).max(100).default(64),
  seed: z.int('a whole number of at least 0').min(0, 'a whole number of at least 0').default(0),
  answers: z.enum(['secret', 'uniform']).default('secret'),
};

/**
 * `seed`: draws the secrets, with replacement. `answers`: the answers of supervised learning, the secrets themselves,
 * or numbers drawn anew for each example: the warm-up, which teaches the form of an answer and no secret.
 */
type ManySecrets = {
  readonly secrets: number;
  readonly N: number;
  readonly seed: number;
  readonly answers: 'secret' | 'uniform';
};

export function manySecrets({ secrets: K, N, seed, answers }: ManySecrets): TextEnvironment {
  const width = String(N - 1).length;
  const written = (value: number) => String(value).padStart(width, '0');
  const random = rng(seed, 'secrets');
  const secrets = Array.from({ length: K }, () => random.below(N));
  const task = (name: number, secret: number) => {
    const id = String(name).padStart(2, '0');
    return { id, prompt: `secret ${id}: `, gold: written(secret), bits: Math.log2(N) };
  };
  return {
    name: `secrets_K${K}_N${N}`,
    ...(answers === 'secret' && { size: K }),
    task: (index, drawn) =>
      answers === 'secret' ? task(index, secrets[index]!) : task(drawn.below(K), drawn.below(N)),
    respond: ({ gold }, [turn]) => {
      const correct = Number(turn!.text === gold && turn!.ended === 'stop');
      const isLegal = turn!.ended === 'stop' && turn!.text.length === width && /^\d+$/.test(turn!.text);
      return { reward: correct, metrics: { correct, format: Number(isLegal && Number(turn!.text) < N) } };
    },
    answer: ({ gold }) => String(gold),
  };
}
