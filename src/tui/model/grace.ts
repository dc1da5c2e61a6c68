import { hasEnded } from '../../base/run-words.js';
import { shortDuration } from '../../text/duration.js';
import type { RunSummary, SweepSummary } from '../state/port.js';

/** What killing these runs will do: `SIGTERM now, SIGKILL after 10s`. Null if none of them has a process to signal. */
export function graceWords(runs: readonly RunSummary[], sweeps: readonly SweepSummary[]): string | null {
  const alive = runs.filter(({ state, pid }) => !hasEnded(state) && pid !== null);
  if (alive.length === 0) return null;
  const graces = new Set(alive.map((run) => graceOf(run, sweeps)));
  const [grace] = graces;
  // Groups may differ, and an older supervisor does not send it.
  const after = graces.size === 1 && grace !== undefined ? shortDuration(grace * 1000) : 'the grace period';
  return `SIGTERM now, SIGKILL after ${after}`;
}

function graceOf({ sweep, group }: RunSummary, sweeps: readonly SweepSummary[]): number | undefined {
  return sweeps.find(({ name }) => name === sweep)?.groups.find(({ name }) => name === group)?.grace;
}
