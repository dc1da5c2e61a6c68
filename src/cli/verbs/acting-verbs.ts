import { rowOf, type RunVerb, runVerbNames } from '../../protocol/run-verbs.js';
import type { Verb, VerbOption } from '../verb.js';
import { actOptions, dryRun, json, removeOption, runs } from '../verb-options.js';

const annotateOptions: readonly VerbOption[] = [runs, dryRun, json];

/** The verbs that act on runs: those of the table of run verbs, and notes on runs. */
export const actingVerbs: readonly Verb[] = [
  ...runVerbNames.map(acting),
  {
    name: 'star',
    takes: '<query...>',
    heading: 'Act',
    about: 'star runs: they stand out in the list, and `clean` leaves them alone',
    options: [...annotateOptions, removeOption],
    run: async (words, given) => (await import('./annotate.js')).star(words, given),
  },
  {
    name: 'tag',
    takes: '<query...>',
    behind: '+TAG… -TAG…',
    takesSigned: true,
    heading: 'Act',
    about: 'add tags to runs (+good) and remove tags (-bad); tag:good in a query finds them',
    options: annotateOptions,
    run: async (words, given) => (await import('./annotate.js')).tag(words, given),
  },
  {
    name: 'note',
    takes: '<query...>',
    behind: 'TEXT',
    heading: 'Act',
    about: 'write a note on runs, in place of the one they have',
    options: [...annotateOptions, removeOption],
    run: async (words, given) => (await import('./annotate.js')).note(words, given),
  },
];

/** What agents may be allowed to do (`mcp --allow`). */
export const allowedActs: readonly string[] = ['launch', ...actingVerbs.map(({ name }) => name), 'all'];

/** The command-line verb of a row in the table of run verbs. */
function acting(verb: RunVerb): Verb {
  const { help, takes, options, earlier } = rowOf(verb);
  return {
    name: verb,
    earlier,
    takes: takes === 'number' ? '<n> <query...>' : '<query...>',
    ...(takes === 'text' ? { behind: 'TEXT' } : {}),
    heading: 'Act',
    about: help,
    options: [...actOptions, ...options],
    run: async (words, given) => (await import('../act-on-runs.js')).act(verb, words, given),
  };
}
