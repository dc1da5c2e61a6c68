/**
 * The language in which runs are chosen, the same in the window and on the command line.
 *
 *   dense                    the name holds "dense" (`*` stands for anything)
 *   status:failed,lost       one of these, or a word that begins so; also group: subgroup: sweep: name: slot: gpu: class: health:
 *   N>=256  lr=1e-3  k!=v    a parameter, or else the last value of a metric, compared
 *   attempt>1  age>2h        facts of every run: attempt, age (since its start), priority, progress (0 to 1)
 *   not x   !x               what x does not choose
 *   x y   x and y            both; binds closer than `or`
 *   x or y   (x y)           either; parentheses group
 *   all                      every run
 *   "two words"              quotes keep blanks and signs: subgroup:"two words", "my key">3, "or", "all"
 *
 * Pure: text in, a tree out. `run-query-match.ts` asks it about runs, `run-query-check.ts` compares it with what there is.
 */
import { shortened } from '../text/shortened.js';
import { UserError } from '../base/user-error.js';
import { parseTokens } from './parser.js';
import { tokensOf } from './tokens.js';
import { QueryRefusal } from './refusal.js';
import type { Fact, Field } from './words.js';

export type Operator = '=' | '!=' | '>' | '<' | '>=' | '<=';

/** A query, read. `all` and `any` have two parts or more, save `all` of nothing, which every run meets: the word `all`, or no text. */
export type RunQuery =
  | { kind: 'all'; parts: readonly RunQuery[] }
  | { kind: 'any'; parts: readonly RunQuery[] }
  | { kind: 'not'; part: RunQuery }
  /** `*` in the text stands for anything. */
  | { kind: 'name'; text: string }
  | { kind: 'field'; field: Field; choices: readonly string[] }
  /** `value`: a plain number; seconds for `age`. */
  | { kind: 'fact'; fact: Fact; operator: Operator; value: number }
  | { kind: 'value'; key: string; operator: Operator; value: string };

/** What is wrong with a query, in words; `at`: index of the character where it shows. */
export type QueryProblem = {
  readonly kind: 'problem';
  readonly problem: string;
  readonly fix: string;
  readonly at: number;
};

/** Longer than anyone types; a program that knows so many runs by name gives the names as words of the command line. */
const LONGEST = 10_000;

/** Reads a query, or says what is wrong with it. */
export function readRunQuery(text: string): RunQuery | QueryProblem {
  if (text.length > LONGEST) return tooLong(text);
  try {
    return parseTokens(tokensOf(text));
  } catch (error) {
    if (!(error instanceof QueryRefusal)) throw error;
    return { kind: 'problem', problem: error.message, fix: error.fix, at: error.at };
  }
}

function tooLong({ length }: string): QueryProblem {
  const problem = `it has ${length} characters, and ${LONGEST} are the most.`;
  return { kind: 'problem', problem, fix: 'Say it shorter: `*` in a name stands for anything.', at: LONGEST };
}

/**
 * Reads a query that has to be one.
 *
 * @throws {UserError} Where it is none, with the place and an example.
 */
export function parseRunQuery(text: string): RunQuery {
  const query = readRunQuery(text);
  if (query.kind !== 'problem') return query;
  throw new UserError(
    `The query \`${shortened(text)}\` cannot be read, at character ${query.at + 1}: ${query.problem}`,
    query.fix,
  );
}
