import { UserError } from '../../base/user-error.js';
import { connect } from '../../client/ensure-supervisor.js';
import type { Fleet, RunSummary, SweepSummary } from '../../client/fleet.js';
import { runsDirectory, type LaunchOptions } from '../options.js';
import { progressLine } from '../plain/progress-line.js';
import { print } from '../terminal.js';

/** `memrl-tui status [SWEEP]`: where each run is, by the supervisor's word. Starts nothing. */
export async function status(sweep: string | undefined, { runs, json }: LaunchOptions): Promise<number> {
  const directory = runsDirectory(runs);
  const fleet = await connect(directory);
  if (fleet === null) {
    throw new UserError(
      `No supervisor looks after ${directory}: either nothing is left to do there, or it was killed (its runs go on).`,
      '`memrl-tui attach` takes the runs up again; `memrl-tui report SWEEP` reads what they came to.',
    );
  }
  await fleet.ready();
  fleet.close();
  const sweeps = [...fleet.sweeps.values()].filter(({ name }) => sweep === undefined || name === sweep);
  if (sweeps.length === 0) {
    throw new UserError(
      `There is no sweep ${sweep === undefined ? '' : `\`${sweep}\` `}here.`,
      `Known are: ${[...fleet.sweeps.keys()].join(', ') || 'none'}.`,
    );
  }
  const told = sweeps.map((summary) => sweepStatus(fleet, summary));
  if (json === true) print([JSON.stringify(sweep === undefined ? told : told[0], null, 2)]);
  else print(sweeps.map(({ name }) => `${name}: ${progressLine(runsOf(fleet, name))}`));
  return 0;
}

/** The contract for scripts. Times are ISO 8601. */
function sweepStatus(fleet: Fleet, { name, groups }: SweepSummary): object {
  const runs = runsOf(fleet, name);
  const { cpu, gpus, problem } = fleet.status;
  return {
    sweep: name,
    state: stateOf(runs),
    problem,
    slots: { cpu, gpus },
    groups: groups.map((group) => ({
      name: group.name,
      title: group.title,
      counts: countsOf(runs.filter((run) => run.group === group.name)),
    })),
    runs: runs.map(runStatus),
  };
}

function stateOf(runs: readonly RunSummary[]): 'running' | 'done' | 'ended' {
  if (runs.every(({ state }) => state === 'done')) return 'done';
  return runs.some(({ state }) => ['queued', 'starting', 'running', 'stopping'].includes(state)) ? 'running' : 'ended';
}

function countsOf(runs: readonly RunSummary[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { state } of runs) counts[state] = (counts[state] ?? 0) + 1;
  return counts;
}

function runStatus({ name, group, subgroup, state, reason, attempt, exit, pid, gpus, ...run }: RunSummary): object {
  const { slot, progress, etaSeconds, metrics, directory } = run;
  const times = { startedAt: isoTime(run.startedAt), endedAt: isoTime(run.endedAt) };
  return {
    ...{ name, group, subgroup, state, reason, attempt, exit, pid, slot, gpus },
    ...{ ...times, progress, etaSeconds, metrics, directory },
  };
}

function isoTime(time: number | null): string | null {
  return time === null ? null : new Date(time).toISOString();
}

function runsOf(fleet: Fleet, sweep: string): RunSummary[] {
  return [...fleet.runs.values()].filter((run) => run.sweep === sweep);
}
