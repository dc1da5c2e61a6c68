import { connect } from '../client/ensure-supervisor.js';
import type { RunSummary } from '../client/fleet.js';
import type { ReportedRun } from '../report/reported-run.js';

/** A report is about files; what has none yet is not waited for longer, ms. */
const PATIENCE_MS = 1000;

/**
 * The runs of a sweep that have not written anything, by the word of its supervisor: held, queued, killed while they waited.
 * None where no supervisor answers; starts nothing.
 */
export async function unstartedRuns(runsDirectory: string, sweep: string): Promise<ReportedRun[]> {
  let timer: NodeJS.Timeout | undefined;
  const timeIsUp = new Promise<ReportedRun[]>((resolve) => {
    timer = setTimeout(() => resolve([]), PATIENCE_MS);
  });
  const asked = ask(runsDirectory, sweep).catch(() => []);
  const runs = await Promise.race([asked, timeIsUp]);
  clearTimeout(timer);
  return runs;
}

async function ask(runsDirectory: string, sweep: string): Promise<ReportedRun[]> {
  const fleet = await connect(runsDirectory);
  if (fleet === null) return [];
  try {
    await fleet.ready();
    return [...fleet.runs.values()].filter((run) => run.sweep === sweep && run.startedAt === null).map(reported);
  } finally {
    fleet.close();
  }
}

function reported({ name, group, directory, parameters, state }: RunSummary): ReportedRun {
  const isWaiting = state !== 'held' && state !== 'killed' && state !== 'failed' && state !== 'lost';
  return { name, group, directory, parameters, state: isWaiting ? 'queued' : state, config: {} };
}
