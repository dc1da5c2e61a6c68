import type { LaunchSpec } from '../executors/executor.js';
import type { StartTimes } from '../scheduler/start/start-times.js';
import { type PlannedRun, type StartRule, weekdays } from '../spec/planned-run.js';
import { instantOf, parseDatedTime, parseTimeOfDay } from '../text/zoned-time.js';

/** What a run asks of an executor that finds it a place. @param perGpu Runs that may share a GPU. */
export function demandOf(
  { resources, timeout, grace, input }: PlannedRun,
  perGpu: number = resources.per_gpu,
): Pick<LaunchSpec, 'needs' | 'slurm' | 'input'> {
  const { gpus, gpu_memory: gpuMemory, cpus = 1, slurm } = resources;
  const needs = { gpus, gpuMemory, perGpu, cpus, seconds: timeout === null ? null : timeout + grace };
  return { needs, ...(slurm === undefined ? {} : { slurm }), ...(input === undefined ? {} : { input }) };
}

/** The start rule of a plan as the scheduler takes it. */
export function startTimes({ zone, at, after, between, days, outside }: StartRule): StartTimes {
  return {
    zone,
    ...(at === undefined ? {} : { at: timeOf(at, zone) }),
    ...(after === undefined ? {} : { afterMs: after * 1000 }),
    ...(between === undefined ? {} : { between: [secondsOf(between[0]), secondsOf(between[1])] }),
    ...(days === undefined ? {} : { days: days.map((day) => weekdays.indexOf(day)) }),
    ...(outside === 'pause' ? { pauses: true } : {}),
  };
}

function timeOf(text: string, zone: string): NonNullable<StartTimes['at']> {
  const dated = parseDatedTime(text);
  return dated === null ? { time: secondsOf(text) } : { instant: instantOf(dated, zone) };
}

/** Texts that no sweep file can hold count as midnight. */
function secondsOf(text: string): number {
  return parseTimeOfDay(text) ?? 0;
}
