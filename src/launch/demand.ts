import type { LaunchSpec } from '../executors/executor.js';
import type { PlannedRun } from '../spec/planned-run.js';

/** What a run asks of an executor that finds it a place. @param perGpu Runs that may share a GPU. */
export function demandOf(
  { resources, timeout, grace, input }: PlannedRun,
  perGpu: number = resources.per_gpu,
): Pick<LaunchSpec, 'needs' | 'slurm' | 'input'> {
  const { gpus, gpu_memory: gpuMemory, cpus = 1, slurm } = resources;
  const needs = { gpus, gpuMemory, perGpu, cpus, seconds: timeout === null ? null : timeout + grace };
  return { needs, ...(slurm === undefined ? {} : { slurm }), ...(input === undefined ? {} : { input }) };
}
