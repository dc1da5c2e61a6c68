import type { RunId } from '../../base/ids.js';
import type { Run } from '../run-state.js';
import type { CpuPool, GpuDevice, SchedulerState } from '../state.js';
import type { Need, Slot } from './slot.js';

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
function obstacleOutside(device: GpuDevice, demand: Demand): Obstacle | null {
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

/**
 * What a run takes of the machine, as far as it is known now. `gpus` 0: one CPU slot.
 *
 * `memory`: MiB on each GPU; null: not known, and it counts by its share alone. `least`: what it needs where it
 * has a GPU to itself. They differ only where the figure was learned, and `memory` has some to spare.
 */
export type Demand = Omit<Need, 'memory'> & { memory: number | null; least: number };

/** What siblings took may be exceeded a little. */
const LEARNED_MARGIN = 1.1;

/** What was declared counts; else what ended runs of the group took. */
export function demandOf({ groups }: Pick<SchedulerState, 'groups'>, { need, alone, group }: Run): Demand {
  const { gpus, memory: declared } = need;
  const perGpu = alone ? 1 : need.perGpu;
  if (declared !== null) return { gpus, perGpu, memory: declared, least: declared };
  const peak = groups.get(group)?.peakMemory ?? null;
  return { gpus, perGpu, memory: peak === null ? null : Math.ceil(peak * LEARNED_MARGIN), least: peak ?? 0 };
}

/** MiB it takes of a GPU that has room for `room`; null: not known. */
function takes({ memory, least }: Demand, room: number): number | null {
  return memory === null ? null : Math.max(least, Math.min(memory, room));
}
