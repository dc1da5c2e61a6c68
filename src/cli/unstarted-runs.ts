import { connect } from '../client/ensure-supervisor.js';
import type { Fleet, RunSummary } from '../client/fleet.js';
import type { ReportedRun } from '../analysis/analysed-run.js';

/** A report is about files; what has none yet is not waited for longer, ms. */
const PATIENCE_MS = 1000;

/**
 * The runs of a sweep that have not written anything, by the word of its supervisor: held, queued, killed while they waited.
 * None where no supervisor answers; starts nothing.
 */
export async function unstartedRuns(runsDirectory: string, sweep: string): Promise<ReportedRun[]> {
  const end = performance.now() + PATIENCE_MS;
  try {
    const fleet = await connect(runsDirectory, PATIENCE_MS);
    return fleet === null ? [] : await ask(fleet, sweep, end - performance.now());
  } catch {
    return [];
  }
}

/** What is still open at the end of the patience would keep the program from ending. */
async function ask(fleet: Fleet, sweep: string, patienceMs: number): Promise<ReportedRun[]> {
  let timer: NodeJS.Timeout | undefined;
  const timeIsUp = new Promise<boolean>((resolve) => (timer = setTimeout(() => resolve(false), patienceMs)));
  try {
    const isReady = await Promise.race([fleet.ready().then(() => true), timeIsUp]);
    if (!isReady) return [];
    return [...fleet.runs.values()].filter((run) => run.sweep === sweep && run.startedAt === null).map(reported);
  } finally {
    clearTimeout(timer);
    fleet.close();
  }
}

function reported({ name, group, directory, parameters, state }: RunSummary): ReportedRun {
  const isWaiting = state !== 'held' && state !== 'killed' && state !== 'failed' && state !== 'lost';
  return { name, group, directory, parameters, state: isWaiting ? 'queued' : state, config: {} };
}
