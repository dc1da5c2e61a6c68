import type { Fact, Field } from './words.js';

export type Operator = '=' | '!=' | '>' | '<' | '>=' | '<=';

/**
 * A parsed query. `all` and `any` have two parts or more, except an `all` of none, which matches every run: the word `all`, or no
 * text.
 */
export type RunQuery =
  | { kind: 'all'; parts: readonly RunQuery[] }
  | { kind: 'any'; parts: readonly RunQuery[] }
  | { kind: 'not'; part: RunQuery }
  /** A part of the name, or of the error of a failed run; `*` in the text matches any characters. */
  | { kind: 'word'; text: string }
  | { kind: 'field'; field: Field; choices: readonly string[] }
  /** `value`: a plain number; seconds for `age`. */
  | { kind: 'fact'; fact: Fact; operator: Operator; value: number }
  | { kind: 'value'; key: string; operator: Operator; value: string };

/** What is wrong with a query, in words; `at`: index of the character where the problem is. */
export type QueryProblem = {
  readonly kind: 'problem';
  readonly problem: string;
  readonly fix: string;
  readonly at: number;
};

/** The conjunction of some queries, flattened, so that equal texts give equal trees. */
export function allOf(parts: readonly RunQuery[]): RunQuery {
  const flat = parts.flatMap((part) => (part.kind === 'all' ? part.parts : [part]));
  return flat.length === 1 ? flat[0]! : { kind: 'all', parts: flat };
}

/** The disjunction of some queries, at least one, flattened. */
export function anyOf(parts: readonly RunQuery[]): RunQuery {
  const flat = parts.flatMap((part) => (part.kind === 'any' ? part.parts : [part]));
  return flat.length === 1 ? flat[0]! : { kind: 'any', parts: flat };
}

/** A query without parts. */
export type Term = Exclude<RunQuery, { kind: 'all' | 'any' | 'not' }>;

/** Whether a term that passes the test is anywhere in the query, also below a negation. */
export function hasTerm(query: RunQuery, test: (term: Term) => boolean): boolean {
  if (query.kind === 'all' || query.kind === 'any') return query.parts.some((part) => hasTerm(part, test));
  return query.kind === 'not' ? hasTerm(query.part, test) : test(query);
}

/** Why a text is not a valid query. Thrown only within the parser: `readRunQuery` returns it as a value. */
export class QueryRefusal extends Error {
  readonly fix: string;
  readonly at: number;

  /** @param at Index of the character where the problem is. */
  constructor(problem: string, fix: string, at: number) {
    super(problem);
    this.fix = fix;
    this.at = at;
  }
}
