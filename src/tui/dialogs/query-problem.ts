import { UserError } from '../../base/user-error.js';
import { checkRunQuery } from '../../query/check.js';
import { readRunQuery } from '../../query/parser.js';
import type { QueryProblem } from '../../query/query.js';
import type { RunSummary } from '../state/port.js';

/** Why a query cannot be used on these runs; null if it can. */
export function queryProblem(text: string, runs: readonly RunSummary[]): QueryProblem | null {
  const query = readRunQuery(text);
  if (query.kind === 'problem') return query;
  try {
    checkRunQuery(query, runs);
    return null;
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    const key = /`([^`]*)`/.exec(error.message)?.[1] ?? '';
    return { kind: 'problem', problem: error.message, fix: error.fix, at: Math.max(0, text.indexOf(key)) };
  }
}
