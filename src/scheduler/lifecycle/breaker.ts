import { failureClass } from '../../base/outcome.js';
import type { Breaker } from '../event.js';
import { groupOf } from '../queue/groups.js';
import { amend } from './move.js';
import type { Ending, Run } from '../run-state.js';
import type { StepContext } from '../step-context.js';

/**
 * Counts the ending of a run of the group; when too many in a row failed too soon, everything of the group that waits,
 * retries included, is held: what is broken for all of them would only be broken again.
 */
export function watchForBreakage(turn: StepContext, run: Run, ending: Ending): void {
  const group = groupOf(turn.state, run.group);
  const { breaker } = group;
  if (breaker === null || ending.outcome.kind === 'killed') return;
  group.quickFailures = isQuickFailure(ending, breaker) ? group.quickFailures + 1 : 0;
  if (group.quickFailures < breaker.failures) return;
  const reason = reasonOf(group.quickFailures, breaker);
  for (const id of group.waiting) {
    const other = turn.state.runs.get(id)!;
    if (other.hold === null) amend(turn, other, { hold: { by: 'breaker', reason } });
  }
}

function isQuickFailure({ outcome, since, at }: Ending, { withinMs }: Breaker): boolean {
  return failureClass(outcome) !== null && (since === null || at - since <= withinMs);
}

function reasonOf(failures: number, { withinMs }: Breaker): string {
  const runs = failures === 1 ? 'a run' : `${failures} runs in a row`;
  return `${runs} failed within ${withinMs / 1000} s of starting`;
}
