import { errorKind } from '../../analysis/failures/error-kind.js';
import { healthWord } from '../../analysis/health/finding.js';
import { errorOf, isUnhealthy } from '../../base/run-words.js';
import type { RunSummary } from '../state/port.js';

/** The kind of error with which a run failed, or else the word for what is wrong with it; null: nothing is. */
export function troubleOf(run: RunSummary): string | null {
  const error = errorOf(run);
  if (error !== null) return kindOf(error);
  return isUnhealthy(run) ? healthWord(run.health) : null;
}

/** The same texts come again with each publication and each grouping. */
const kinds = new Map<string, string>();
const mostKinds = 20_000;

/** An error that says nothing is a kind of its own. */
function kindOf(error: string): string {
  let kind = kinds.get(error);
  if (kind === undefined) {
    if (kinds.size >= mostKinds) kinds.clear();
    kinds.set(error, (kind = errorKind(error) || 'no message'));
  }
  return kind;
}
