import type { Fact, Field } from './words.js';

export type Operator = '=' | '!=' | '>' | '<' | '>=' | '<=';

/** A query, read. `all` and `any` have two parts or more, save `all` of nothing, which every run meets: the word `all`, or no text. */
export type RunQuery =
  | { kind: 'all'; parts: readonly RunQuery[] }
  | { kind: 'any'; parts: readonly RunQuery[] }
  | { kind: 'not'; part: RunQuery }
  /** A part of the name, or of the error of a run that failed; `*` in the text stands for anything. */
  | { kind: 'word'; text: string }
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

/** All of them hold. As flat as the text can say it, so that equal texts give equal trees. */
export function allOf(parts: readonly RunQuery[]): RunQuery {
  const flat = parts.flatMap((part) => (part.kind === 'all' ? part.parts : [part]));
  return flat.length === 1 ? flat[0]! : { kind: 'all', parts: flat };
}

/** One of them holds, of at least one. */
export function anyOf(parts: readonly RunQuery[]): RunQuery {
  const flat = parts.flatMap((part) => (part.kind === 'any' ? part.parts : [part]));
  return flat.length === 1 ? flat[0]! : { kind: 'any', parts: flat };
}

/** A query that has no parts. */
export type Term = Exclude<RunQuery, { kind: 'all' | 'any' | 'not' }>;

/** Whether a term that fulfils the test is anywhere in the query, be it denied. */
export function hasTerm(query: RunQuery, test: (term: Term) => boolean): boolean {
  if (query.kind === 'all' || query.kind === 'any') return query.parts.some((part) => hasTerm(part, test));
  return query.kind === 'not' ? hasTerm(query.part, test) : test(query);
}

/** Why a text is no query. Stays within the reader: `readRunQuery` gives it as a value. */
export class QueryRefusal extends Error {
  readonly fix: string;
  readonly at: number;

  /** @param at Index of the character where it shows. */
  constructor(problem: string, fix: string, at: number) {
    super(problem);
    this.fix = fix;
    this.at = at;
  }
}
