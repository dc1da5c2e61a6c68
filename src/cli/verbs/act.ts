import { UserError } from '../../base/user-error.js';
import { orderOf, rowOf, type RunVerb } from '../../protocol/run-verbs.js';
import { actOnRuns, type ActOptions } from '../act-on-runs.js';

/** `memrl-tui kill QUERY`, `memrl-tui priority N QUERY`: every verb in the table of run verbs. */
export function act(verb: RunVerb, words: readonly string[], options: ActOptions): Promise<number> {
  if (!rowOf(verb).takesNumber) return actOnRuns(orderOf(verb), words, options);
  const [text, ...query] = words;
  return actOnRuns(orderOf(verb, numberIn(text!, verb)), query, options);
}

function numberIn(text: string, verb: RunVerb): number {
  if (/^[+-]?\d{1,9}$/.test(text)) return Number(text);
  throw new UserError(
    `\`${text}\` is not a ${verb}.`,
    `Write a whole number before the runs, for example \`memrl-tui ${verb} 10 group:A\`.`,
  );
}
