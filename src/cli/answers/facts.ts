/** What several answers are made of. The schemas here are the types of what is printed, and nothing is checked by them at run time. */
import * as z from 'zod';
import { exitClasses, runHealths, runStates } from '../../base/run-words.js';
import { Parameters as WrittenParameters } from '../../base/scalar.js';

/** Words of which there may be more in a later version: a reader takes one that it does not know for the general case. */
export function growingWords<const Words extends readonly string[]>(words: Words) {
  return z.enum(words).meta({ 'x-may-grow': true });
}

export const count = z.int().nonnegative();
export const bytes = count.describe('bytes');
export const time = z.string().describe('time, ISO 8601 in UTC');
export const timeOrNull = time.nullable().describe('time, ISO 8601 in UTC; null: it has not come');
export const seconds = z.number().describe('seconds');
export const pid = z.int().describe('process id');
export const path = z.string().describe('absolute path');
export const RunState = z.enum(runStates);
export const Health = growingWords(runHealths);
export const ExitClass = growingWords(exitClasses);
/** JSON has no infinity. */
export const unbounded = z.union([z.number(), z.literal('infinite')]);
export const Goal = z.enum(['minimize', 'maximize']).describe('which end of the metric is good');
export const Interval = z.tuple([z.number(), z.number()]).describe('lower and upper end');
export const Counts = z
  .partialRecord(RunState, count)
  .describe('number of runs by state; states that none is in are left out');
export const Parameters = WrittenParameters.describe('values by name; null is a value, too');

/** A kind of failure. */
export const Failure = z.object({
  error: z.string().describe('what the messages of these runs have in common'),
  runs: count.describe('number of runs that failed so'),
  example: z.string().describe('name of the first of these runs'),
  cause: z.string().nullable().describe('the parameters that go with it, in words; null: chance may explain it'),
  sentence: z.string().describe('all of it in a sentence'),
});

export const Annotation = {
  starred: z.boolean(),
  tags: z.array(z.string()),
  note: z.string().nullable().describe('null: there is none'),
};
