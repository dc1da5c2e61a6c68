import type { RunQuery } from './reading.js';

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
