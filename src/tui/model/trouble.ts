import { errorKind } from '../../analysis/failures/error-kind.js';
import { healthWord } from '../../analysis/health/finding.js';
import { errorOf, isUnhealthy } from '../../base/run-words.js';
import type { RunSummary } from '../state/port.js';

/** The kind of error of a failed run, or otherwise its health problem; null: neither. */
export function troubleOf(run: RunSummary): string | null {
  const error = errorOf(run);
  if (error !== null) return kindOf(error);
  return isUnhealthy(run) ? healthWord(run.health) : null;
}

/** Cache of kinds by error text, because the same texts recur with each publication and grouping. */
const kinds = new Map<string, string>();
const mostKinds = 20_000;

/** The kind of an error message; an empty message is its own kind. */
function kindOf(error: string): string {
  let kind = kinds.get(error);
  if (kind === undefined) {
    if (kinds.size >= mostKinds) kinds.clear();
    kinds.set(error, (kind = errorKind(error) || 'no message'));
  }
  return kind;
}
