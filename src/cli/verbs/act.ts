import { UserError } from '../../base/user-error.js';
import { orderOf, rowOf, type RunVerb } from '../../protocol/run-verbs.js';
import { actOnRuns, type ActOptions } from '../act-on-runs.js';

/** `memrl-tui kill QUERY`, `memrl-tui priority N QUERY`: `memrl-tui type QUERY LINE`: every verb in the table of run verbs. */
export function act(verb: RunVerb, words: readonly string[], options: ActOptions): Promise<number> {
  switch (rowOf(verb).takes) {
    case null:
      return actOnRuns(orderOf(verb), words, options);
    case 'number':
      return actOnRuns(orderOf(verb, numberIn(words[0]!, verb)), words.slice(1), options);
    case 'text':
      return actOnRuns(orderOf(verb, lineIn(words, verb)), words.slice(0, -1), options);
  }
}

/** The last argument is the line, which may be empty. */
function lineIn(words: readonly string[], verb: RunVerb): string {
  if (words.length > 1) return words.at(-1)!;
  throw new UserError(
    'There is a run, and no line to type.',
    `Write the line after the run, in quotes: \`memrl-tui ${verb} A_s0 "p loss"\`; \`''\` is an empty line.`,
  );
}

function numberIn(text: string, verb: RunVerb): number {
  if (/^[+-]?\d{1,9}$/.test(text)) return Number(text);
  throw new UserError(
    `\`${text}\` is not a ${verb}.`,
    `Write a whole number before the runs, for example \`memrl-tui ${verb} 10 group:A\`.`,
  );
}
