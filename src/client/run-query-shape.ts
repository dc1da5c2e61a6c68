import type { RunQuery } from './run-query.js';

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
