/** What `--json` prints, in the order of the documentation; `schemas.ts` has the fields of each. This file loads no schema. */
import { runVerbNames } from '../../protocol/run-verbs.js';

/**
 * `version`: raised when a field of the answer is taken away, or means something else. `lines`: the commands that print it with
 * `--json`, their first word being the verb; a launch is `FILE`.
 */
type AnswerRow = { readonly version: number; readonly about: string; readonly lines: readonly string[] };

export const answerTable = {
  ls: { version: 1, about: 'a list of runs', lines: ['ls'] },
  status: { version: 1, about: 'a list with a digest of each sweep', lines: ['status'] },
  best: { version: 1, about: 'a list with the best setting of each group', lines: ['best'] },
  du: { version: 1, about: 'what runs take on the disk', lines: ['du'] },
  wait: { version: 1, about: 'how the runs ended', lines: ['wait'] },
  events: { version: 1, about: 'one event, in a line of its own', lines: ['events'] },
  report: { version: 2, about: 'the tables of a sweep', lines: ['report'] },
  'report-would-stop': { version: 1, about: 'what a rule would have ended', lines: ['report --would-stop'] },
  plan: { version: 1, about: 'what a launch would do', lines: ['FILE --dry-run', 'grid --dry-run'] },
  act: { version: 1, about: 'what was done to which runs', lines: runVerbNames },
  annotate: { version: 1, about: 'which runs were annotated', lines: ['star', 'tag', 'note'] },
  clean: { version: 1, about: 'what was or would be deleted', lines: ['clean'] },
  slots: { version: 1, about: 'where runs may go', lines: ['slots'] },
  drain: { version: 1, about: 'the slots after the change', lines: ['drain'] },
  restart: { version: 1, about: 'the supervisor before and after', lines: ['restart'] },
  doctor: { version: 1, about: 'the checks and their findings', lines: ['doctor'] },
  'doctor-metrics': { version: 1, about: 'where the metrics of a run are found', lines: ['doctor --metrics'] },
  error: {
    version: 1,
    about: 'why a command was refused, on standard output like an answer',
    lines: ['VERB'],
  },
} as const satisfies Readonly<Record<string, AnswerRow>>;

export type AnswerName = keyof typeof answerTable;
export const answerNames = Object.keys(answerTable) as AnswerName[];

/** An answer with its version: in front of its fields, of each entry if it is a list, in which JSON has no other place for it. */
export function versioned(name: AnswerName, answer: object): object {
  const { version } = answerTable[name];
  if (Array.isArray(answer)) return answer.map((entry: object) => ({ version, ...entry }));
  return { version, ...answer };
}
