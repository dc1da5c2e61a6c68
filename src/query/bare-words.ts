import { UserError } from '../base/user-error.js';
import { checkRunQuery, meantKey } from './check.js';
import { runTest } from './match.js';
import { parseRunQuery } from './parser.js';
import { allOf, anyOf, type RunQuery } from './query.js';
import type { QueriedRun } from './words.js';

/*
 * The meaning of a word without a field: the same rule on the command line, in the palette and in the filter of the window.
 *
 *   Words that are all names, of sweeps or else of runs (`lr0.1`, `abcd/lr0.1`), select these.
 *   In any other query a word means the sweep of that name; else the group of that name; else, with its sweep (`abcd/lr0.1`), the
 *   run or the group; else a part of a name, or of the error of a failed run. `name:` always means the name of a run.
 */

/** Names, beside those of runs, that bare words may mean. `meant`: the parameter or metric that a key
 * means. */
type KnownNames = {
  readonly sweeps: ReadonlySet<string>;
  readonly groups: ReadonlySet<string>;
  readonly meant: (key: string) => string;
};

export function namesOf(runs: readonly QueriedRun[]): KnownNames {
  return {
    sweeps: new Set(runs.map(({ sweep }) => sweep)),
    groups: new Set(runs.map(({ group }) => group)),
    meant: (key) => meantKey(key, runs),
  };
}

/** The query with its bare words replaced by what they name, and the ends of names by the names. */
export function resolved(query: RunQuery, names: KnownNames): RunQuery {
  switch (query.kind) {
    case 'all':
      return allOf(query.parts.map((part) => resolved(part, names)));
    case 'any':
      return anyOf(query.parts.map((part) => resolved(part, names)));
    case 'not':
      return { kind: 'not', part: resolved(query.part, names) };
    case 'word':
      return named(query.text, names) ?? query;
    case 'value':
      return { ...query, key: names.meant(query.key) };
    default:
      return query;
  }
}

/** The query for a word that is a name; null: the word is a part of a name or an error. */
function named(text: string, { sweeps, groups }: KnownNames): RunQuery | null {
  const field = (name: 'sweep' | 'group' | 'name', choice: string): RunQuery => {
    return { kind: 'field', field: name, choices: [choice] };
  };
  if (sweeps.has(text)) return field('sweep', text);
  if (groups.has(text)) return field('group', text);
  const [sweep, rest = ''] = [text.slice(0, text.indexOf('/')), text.slice(text.indexOf('/') + 1)];
  if (!text.includes('/') || !sweeps.has(sweep) || rest === '') return null;
  const member = groups.has(rest) ? anyOf([field('group', rest), field('name', rest)]) : field('name', rest);
  return allOf([field('sweep', sweep), member]);
}

type NamedRun = QueriedRun & { readonly id: string };

/**
 * The runs that words select, in the order of the runs; no words: all. May be empty.
 *
 * @param now Unix ms.
 * @throws {UserError} When the query is invalid, names something that no run has, or a name is that of runs of several sweeps.
 */
export function runsChosenBy<Run extends NamedRun>(words: readonly string[], runs: readonly Run[], now: number): Run[] {
  const byName = runsAllNamed(words, runs);
  if (byName !== null) return runs.filter((run) => byName.has(run));
  const query = resolved(parseRunQuery(words.join(' ')), namesOf(runs));
  checkRunQuery(query, runs);
  return runs.filter(runTest(query, now));
}

/**
 * The runs with these names; null where a word is no name, or there are no words.
 *
 * @throws {UserError} When runs of several sweeps have one of the names.
 */
export function runsAllNamed<Run extends NamedRun>(
  words: readonly string[],
  runs: readonly Run[],
): ReadonlySet<Run> | null {
  const found = words.map((word) => {
    const ofSweep = runs.filter(({ sweep }) => sweep === word);
    return ofSweep.length > 0 ? ofSweep : runs.filter(({ id, name }) => name === word || id === word);
  });
  if (words.length === 0 || found.some((each) => each.length === 0)) return null;
  for (const [index, each] of found.entries()) refuseAmbiguous(words[index]!, each);
  return new Set(found.flat());
}

function refuseAmbiguous(word: string, found: readonly NamedRun[]): void {
  const ids = found.map(({ id }) => id);
  if (ids.length < 2 || found.every(({ sweep }) => sweep === word)) return;
  throw new UserError(`${ids.length} sweeps have a run \`${word}\`.`, `Choose one: ${ids.slice(0, 6).join(', ')}.`);
}
