import type { RunId } from '../../base/ids.js';
import { type Demand, demandOf, takes } from './demand.js';
import type { GpuDevice, SchedulerState } from '../state.js';

/** What the rooms of GPUs are worked out from. */
export type Machine = Pick<SchedulerState, 'cpu' | 'gpu' | 'groups' | 'runs'>;

/** What keeps a run off a GPU: first what no run of ours can change, then what our own runs do there. */
export type Obstacle = 'gone' | 'drained' | 'leased' | 'foreign' | 'busy' | 'memory';

/** GPUs that may be used, in the order in which they are preferred. */
export function grantedGpus({ gpu }: Pick<SchedulerState, 'gpu'>): GpuDevice[] {
  return gpu.gpus.map((index) => gpu.devices.get(index)!);
}

/** What keeps a run off the GPU as things are; null: it has room. */
export function obstacleNow(machine: Machine, device: GpuDevice, demand: Demand): Obstacle | null {
  const outside = obstacleOutside(device, demand);
  if (outside !== null) return outside;
  if (!hasShare(machine.gpu.shares.get(device.index), demand.perGpu)) return 'busy';
  const room = roomOf(device);
  // What is not known to take memory counts by its share alone, also where runs have grown beyond what there is.
  const taken = room === null ? null : takes(demand, room);
  return taken !== null && taken > freeMemory(machine, device)! ? 'memory' : null;
}

/** What would keep a run off the GPU if none of ours were there; null: nothing. */
export function obstacleOutside(device: GpuDevice, demand: Demand): Obstacle | null {
  if (!device.present) return 'gone';
  if (device.drained) return 'drained';
  if (device.leasedBy !== null) return 'leased';
  const room = roomOf(device);
  const isShared = device.foreign.length > 0;
  if (room === null || demand.memory === null) return isShared ? 'foreign' : null;
  if (isShared) return demand.memory > room ? 'foreign' : null;
  return demand.least > room ? 'memory' : null;
}

/** Whether the GPU could ever take the run, if nobody else used it. */
export function isLargeEnough({ memory }: GpuDevice, demand: Demand): boolean {
  return memory === null || demand.least <= memory;
}

/** MiB that neither others nor our runs are known to take; null where the size of the GPU is not known. */
export function freeMemory(machine: Machine, device: GpuDevice): number | null {
  const room = roomOf(device);
  if (room === null) return null;
  let free = room;
  for (const id of machine.gpu.shares.get(device.index)?.keys() ?? []) {
    free -= takes(demandOf(machine, machine.runs.get(id)!), room) ?? 0;
  }
  return free;
}

/** MiB that others leave to us. */
function roomOf({ memory, foreignMemory }: GpuDevice): number | null {
  return memory === null ? null : memory - foreignMemory;
}

/** Whether one more run fits that shares the GPU with so many, itself included. */
export function hasShare(holders: ReadonlyMap<RunId, number> | undefined, perGpu: number): boolean {
  let used = 1 / perGpu;
  for (const other of holders?.values() ?? []) used += 1 / other;
  return used <= 1 + rounding;
}

/** Twelve runs of a twelfth each do not add up to exactly one. */
const rounding = 1e-9;
