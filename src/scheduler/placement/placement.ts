import type { RunId } from '../../base/ids.js';
import type { Demand } from './demand.js';
import { grantedGpus, isLargeEnough, type Machine, obstacleNow, obstacleOutside } from './gpu-room.js';
import type { Slot } from './slot.js';
import type { CpuPool, GpuDevice } from '../state.js';

/** The slot to give to a run: the lowest free CPU slot, or the first GPUs with room in order of preference; null: there is none. */
export function freeSlot(machine: Machine, demand: Demand): Slot | null {
  if (demand.gpus === 0) return freeCpu(machine.cpu);
  const roomy = grantedGpus(machine).filter((device) => obstacleNow(machine, device, demand) === null);
  const [first, ...others] = roomy.slice(0, demand.gpus).map(({ index }) => index);
  if (first === undefined || others.length + 1 < demand.gpus) return null;
  return { kind: 'gpu', gpus: [first, ...others] };
}

/** Whether the run could start now if no other run of ours held anything: what is worth keeping room for. */
export function isPossibleNow(machine: Machine, demand: Demand): boolean {
  return isPossible(machine, demand, (device) => obstacleOutside(device, demand) === null);
}

/** Whether the run could start some day without anybody lifting a finger: others may leave, a drained GPU stays so. */
export function isPossibleLater(machine: Machine, demand: Demand): boolean {
  return isPossible(machine, demand, (device) => !device.drained && isLargeEnough(device, demand));
}

/** A CPU slot nobody holds, whether or not it is granted: where a run that is up counts, if no better place is known. */
export function spareCpu({ holders }: CpuPool): Slot {
  for (let index = 0; ; index++) if (!holders.has(index)) return { kind: 'cpu', index };
}

export function occupy({ cpu, gpu }: Machine, id: RunId, slot: Slot, perGpu: number): void {
  if (slot.kind === 'cpu') {
    cpu.holders.set(slot.index, id);
    return;
  }
  for (const index of slot.gpus) {
    const holders = gpu.shares.get(index) ?? new Map<RunId, number>();
    gpu.shares.set(index, holders.set(id, perGpu));
  }
}

export function vacate({ cpu, gpu }: Machine, id: RunId, slot: Slot): void {
  if (slot.kind === 'cpu') {
    cpu.holders.delete(slot.index);
    return;
  }
  for (const index of slot.gpus) gpu.shares.get(index)?.delete(id);
}

function isPossible(machine: Machine, { gpus }: Demand, isUsable: (device: GpuDevice) => boolean): boolean {
  return gpus === 0 ? machine.cpu.slots > 0 : grantedGpus(machine).filter(isUsable).length >= gpus;
}

function freeCpu(pool: CpuPool): Slot | null {
  return pool.holders.size >= pool.slots ? null : spareCpu(pool);
}
