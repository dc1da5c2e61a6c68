import type { TimeRange } from '../../analysis/forecast/time-range.js';
import { healthWord } from '../../analysis/health/finding.js';
import { groupBy } from '../../base/group-by.js';
import { hasEnded, isUnhealthy, progressOf, type RunHealth, type RunWord, waitOf } from '../../base/run-words.js';
import type { Fleet, RunSummary } from '../../client/fleet.js';
import { displayText } from '../../text/display-text.js';
import { durationRange } from '../../text/duration.js';

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

/** The progress of all runs, and what queued ones wait for: `12 of 48 done, 2 running, 34 queued · 31 % · 34 × …`. */
export function progressLine(runs: readonly WatchedRun[]): string {
  const share = runs.reduce((sum, run) => sum + progressOf(run), 0) / Math.max(1, runs.length);
  const parts = [countsLine(runs), `${Math.floor(share * 100)} %`, waitingWords(runs)];
  return parts.filter((part) => part !== '').join(' · ');
}

/** `4-9m left`; empty if unknown. */
export function leftWords(left: TimeRange | null): string[] {
  return left === null ? [] : [`${durationRange(left)} left`];
}

/** The last line: `48 done, 0 failed, 3 diverged`, and other counts. */
export function finalLine(runs: readonly WatchedRun[]): string {
  const count = counter(runs);
  const others = (['killed', 'lost', 'stopping', 'starting', 'running', 'paused', 'queued', 'held'] as const)
    .filter((state) => count(state) > 0)
    .map((state) => `${count(state)} ${state}`);
  return [`${count('done')} done`, `${count('failed')} failed`, ...others, ...unhealthyWords(runs)].join(', ');
}

/** The counts: `12 of 48 done, 2 running, 34 queued`. */
export function countsLine(runs: readonly WatchedRun[]): string {
  const count = counter(runs);
  const others = (['failed', 'killed', 'lost', 'stopping', 'starting', 'running', 'paused', 'queued', 'held'] as const)
    .filter((state) => count(state) > 0)
    .map((state) => `${count(state)} ${state}`);
  return [`${count('done')} of ${runs.length} done`, ...others, ...unhealthyWords(runs)].join(', ');
}

/** `2 silent`, `3 diverged`: problems of runs that their states do not show. */
function unhealthyWords(runs: readonly WatchedRun[]): string[] {
  return [...groupBy(runs.filter(isUnhealthy), ({ health }) => health)].map(
    ([word, each]) => `${each.length} ${healthWord(word)}`,
  );
}

/** What runs that have not begun wait for, the most frequent first, at most three. */
function waitingWords(runs: readonly WatchedRun[]): string {
  const times = new Map<string, number>();
  for (const run of runs) {
    const reason = waitOf(run);
    if (reason !== null) times.set(reason, (times.get(reason) ?? 0) + 1);
  }
  const sorted = [...times].sort(([, a], [, b]) => b - a);
  const words = sorted.slice(0, 3).map(([reason, count]) => `${count} × ${displayText(reason)}`);
  return [...words, ...(sorted.length > 3 ? [`${sorted.length - 3} other reasons`] : [])].join('; ');
}

function counter(runs: readonly WatchedRun[]): (state: WatchedRun['state']) => number {
  const counts = new Map<string, number>();
  for (const { state } of runs) counts.set(state, (counts.get(state) ?? 0) + 1);
  return (state) => counts.get(state) ?? 0;
}
