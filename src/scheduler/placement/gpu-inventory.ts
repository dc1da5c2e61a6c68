import type { GpuIndex } from '../../base/ids.js';
import type { EventOf } from '../event.js';
import type { GpuDevice, GpuPool, SchedulerState } from '../state.js';

/** Grants other slots. Runs on slots that are no longer granted stay there until they end. */
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

/** Takes note of what was found. Frees no slot: a run on a GPU that is gone has still to end. */
export function seeGpus({ gpu }: SchedulerState, { gpus }: EventOf<'gpus-seen'>): void {
  for (const device of gpu.devices.values()) gpu.devices.set(device.index, { ...device, present: false });
  for (const { memory, ...seen } of gpus) {
    const known = deviceOf(gpu, seen.index);
    gpu.devices.set(seen.index, { ...known, ...seen, memory: memory ?? known.memory, present: true });
  }
}

export function drain({ gpu }: SchedulerState, { gpus, drained }: EventOf<'drain-requested'>): void {
  for (const index of gpus) gpu.devices.set(index, { ...deviceOf(gpu, index), drained });
}

/** What is known of a GPU; nothing bad of one that was never looked at. */
function deviceOf({ devices }: GpuPool, index: GpuIndex): GpuDevice {
  const known = devices.get(index);
  if (known !== undefined) return known;
  const usage = { memory: null, foreignMemory: 0, foreign: [], leasedBy: null };
  return { index, uuid: null, ...usage, drained: false, present: true };
}
