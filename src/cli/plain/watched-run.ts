import { hasEnded, type RunHealth, type RunWord } from '../../base/run-words.js';
import type { Fleet, RunSummary } from '../../client/fleet.js';

/** The part of a run that plain mode uses; a supervisor's run summary has it. Times: Unix ms. */
export type WatchedRun = {
  name: string;
  state: RunWord;
  /** Why it waits, or how it ended. */
  reason: string | null;
  attempt: number;
  slot: string | null;
  pid: number | null;
  startedAt: number | null;
  endedAt: number | null;
  killAt: number | null;
  /** 0..1 */
  progress: number | null;
  health: RunHealth;
  healthReason?: string | null | undefined;
  /** A warning to show beside the state of the run. */
  warning?: string | null | undefined;
};

export function runsOf({ runs }: Pick<Fleet, 'runs'>, sweep: string): RunSummary[] {
  return [...runs.values()].filter((run) => run.sweep === sweep);
}

/** Whether this sweep, or any (null), gets further runs without a request. */
export function isGrowing({ status }: Pick<Fleet, 'status'>, sweep: string | null): boolean {
  return status.growing?.some((group) => sweep === null || group.sweep === sweep) ?? false;
}

/** Whether none of these runs is up, and waiting ones cannot start without a user. */
export function isOver(fleet: Pick<Fleet, 'status' | 'connection'>, runs: Iterable<RunSummary>): boolean {
  if (fleet.connection !== 'connected') return false;
  const { settled, stuck = [] } = fleet.status;
  const mayWait = ({ state, retryAt, sweep }: RunSummary) =>
    (settled || stuck.includes(sweep)) && (state === 'held' || (state === 'queued' && retryAt === null));
  for (const run of runs) if (!hasEnded(run.state) && !mayWait(run)) return false;
  return true;
}
