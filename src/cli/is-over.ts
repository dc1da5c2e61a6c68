import type { Fleet, RunSummary } from '../client/fleet.js';
import { hasEnded } from './plain/watched-run.js';

/** Whether none of these runs is up, and those that still wait cannot start by themselves. */
export function isOver(fleet: Fleet, runs: Iterable<RunSummary>): boolean {
  if (fleet.connection !== 'connected') return false;
  const open = [...runs].filter((run) => !hasEnded(run));
  const mayWait = (run: RunSummary) => run.state === 'held' || (run.state === 'queued' && run.retryAt === null);
  return open.length === 0 || (fleet.status.settled && open.every(mayWait));
}
