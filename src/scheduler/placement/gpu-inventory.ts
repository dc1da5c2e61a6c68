import type { GpuIndex } from '../../base/ids.js';
import type { Outcome } from '../../base/outcome.js';
import type { StepContext } from '../action.js';
import type { EventOf } from '../event.js';
import { groupOf } from '../queue/groups.js';
import type { Run } from '../run-state.js';
import type { GpuDevice, GpuPool, SchedulerState } from '../state.js';

/** Changes the slots that may be used. Runs on other slots stay there until they end. */
export function changeSlots({ cpu, gpu }: SchedulerState, { cpus, gpus, chosen }: EventOf<'slots-changed'>): void {
  cpu.slots = cpus;
  cpu.chosen = chosen?.cpus ?? false;
  gpu.chosen = chosen?.gpus ?? false;
  gpu.gpus = [...new Set(gpus.map(({ index }) => index))];
  for (const { index, uuid, memory } of gpus) {
    const known = deviceOf(gpu, index);
    gpu.devices.set(index, { ...known, uuid: uuid ?? known.uuid, memory: memory ?? known.memory });
  }
}

/** Records the observed GPUs. Frees no slot: a run on a GPU that is gone has yet to end. */
export function seeGpus({ gpu }: SchedulerState, { gpus }: EventOf<'gpus-seen'>): void {
  for (const device of gpu.devices.values()) gpu.devices.set(device.index, { ...device, present: false });
  for (const { memory, present = true, ...seen } of gpus) {
    const known = deviceOf(gpu, seen.index);
    gpu.devices.set(seen.index, { ...known, ...seen, memory: memory ?? known.memory, present });
  }
}

export function drain({ gpu }: SchedulerState, { gpus, drained, reason }: EventOf<'drain-requested'>): void {
  for (const index of gpus) gpu.devices.set(index, { ...deviceOf(gpu, index), drained, drainReason: reason });
}

/** What is known of a GPU; one that was never observed counts as present and free. */
function deviceOf({ devices }: GpuPool, index: GpuIndex): GpuDevice {
  const known = devices.get(index);
  if (known !== undefined) return known;
  const usage = { memory: null, foreignMemory: 0, foreign: [], leasedBy: null };
  return { index, uuid: null, ...usage, drained: false, present: true };
}

/**
 * Records the memory that a run of the group took. A run that was interrupted early may have taken less than its siblings will, so
 * it can raise a known figure but not set the first. `gpuMemory`: the most on one GPU, MiB.
 */
export function learnMemory({ state }: StepContext, run: Run, outcome: Outcome, gpuMemory: number | undefined): void {
  const group = groupOf(state, run.group);
  if (gpuMemory === undefined || gpuMemory <= (group.peakMemory ?? 0)) return;
  if (group.peakMemory !== null || isFullGrown(outcome)) group.peakMemory = gpuMemory;
}

function isFullGrown({ kind }: Outcome): boolean {
  return kind === 'done' || kind === 'oom' || kind === 'timeout';
}
