import * as z from 'zod';
import { errorExits } from './exit-codes.js';
import { growingWords } from './facts.js';

export const ErrorAnswer = z.object({
  error: z.object({
    code: growingWords(Object.keys(errorExits) as (keyof typeof errorExits)[]).describe(
      'refused: any mistake without a code of its own; system: what the system refused; bug: one of memrl-tui',
    ),
    message: z.string(),
    fix: z.string().nullable().describe('what to do; null: the message says all'),
    exitCode: z.int().describe('that of the command'),
  }),
});
