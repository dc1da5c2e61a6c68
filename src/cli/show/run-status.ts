import type { RunSummary } from '../../client/fleet.js';

/** One run as `status --json` and `ls --json` give it: a contract for scripts. Times are ISO 8601, memory is in MiB. */
export function runStatus(run: RunSummary): object {
  const { name, sweep, group, subgroup, state, reason, attempt, exit, pid, slot, gpus, ...more } = run;
  const { progress, etaSeconds, metrics, health, priority, gpuMemory, warning, parameters, directory } = more;
  return {
    ...{ name, sweep, group, subgroup, state, reason, attempt, exit, pid, slot, gpus },
    ...{ startedAt: isoTime(more.startedAt), endedAt: isoTime(more.endedAt), retryAt: isoTime(more.retryAt) },
    ...{ progress, etaSeconds, metrics, health, priority, gpuMemory, warning, parameters, directory },
  };
}

function isoTime(time: number | null): string | null {
  return time === null ? null : new Date(time).toISOString();
}
