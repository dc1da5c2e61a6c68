import type { GpuIndex, RunId } from '../../base/ids.js';
import type { CpuPool, GpuDevice, Run, SchedulerState } from '../state.js';
import type { Need, Slot } from './slot.js';

/** Room that is kept for runs further ahead in the line: GPUs, and a number of CPU slots. */
type Kept = { gpus: ReadonlySet<GpuIndex>; cores: number };

const nothing: Kept = { gpus: new Set(), cores: 0 };

/**
 * The slot for a run; null: there is no room. Runs are spread over the GPUs: those with room that are used least are chosen, and of
 * equally used ones the first in order of preference. A run without a GPU gets the lowest free number.
 */
export function freeSlot(machine: Machine, demand: Demand, kept: Kept = nothing): Slot | null {
  if (!hasCores(machine.cpu, demand, machine.cpu.busy + kept.cores)) return null;
  if (demand.gpus === 0) return spareCpu(machine.cpu);
  const usable = usableGpus(machine, demand);
  const roomy = usable.filter(
    (device) => !kept.gpus.has(device.index) && obstacleNow(machine, device, demand) === null,
  );
  const uses = new Map(roomy.map((device) => [device, useOf(machine, device)]));
  const chosen = new Set(roomy.toSorted((a, b) => uses.get(a)! - uses.get(b)!).slice(0, demand.gpus));
  const [first, ...others] = roomy.filter((device) => chosen.has(device)).map(({ index }) => index);
  if (first === undefined || chosen.size < demand.gpus) return null;
  return { kind: 'gpu', gpus: [first, ...others] };
}

/** How much a GPU is used: the sum of our runs' shares, plus 1 where others use it. Rounded, so that three thirds are one. */
function useOf({ gpu }: Machine, { index, foreign }: GpuDevice): number {
  let used = foreign.length > 0 ? 1 : 0;
  for (const perGpu of gpu.shares.get(index)?.values() ?? []) used += 1 / perGpu;
  return Math.round(used / rounding) * rounding;
}

/** Whether the run could start now if no other run of ours were up; if not, keeping room for it is useless. */
export function isPossibleNow(machine: Machine, demand: Demand): boolean {
  return isPossible(machine, demand, (device) => obstacleOutside(device, demand) === null);
}

/** Whether the run could start at some time without a user's action: other processes may end, but a drained GPU stays drained. */
export function isPossibleLater(machine: Machine, demand: Demand): boolean {
  return isPossible(machine, demand, (device) => !device.drained && isLargeEnough(device, demand));
}

/** Whether there are enough CPU slots for it once all are free. */
export function hasCoresLater({ cpu }: Pick<Machine, 'cpu'>, demand: Demand): boolean {
  return hasCores(cpu, demand, 0);
}

/** The lowest slot number that nobody holds, even beyond the granted slots: for a run that is up and whose slot is unknown. */
export function spareCpu({ spare }: CpuPool): Slot {
  return { kind: 'cpu', index: spare };
}

export function occupy({ cpu, gpu }: Machine, id: RunId, slot: Slot, { perGpu, cores }: Demand): void {
  cpu.busy += cores - (cpu.cores.get(id) ?? 0);
  if (cores > 0) cpu.cores.set(id, cores);
  if (slot.kind === 'cpu') {
    cpu.holders.set(slot.index, id);
    while (cpu.holders.has(cpu.spare)) cpu.spare += 1;
    return;
  }
  for (const index of slot.gpus) {
    const holders = gpu.shares.get(index) ?? new Map<RunId, number>();
    gpu.shares.set(index, holders.set(id, perGpu));
  }
}

export function vacate({ cpu, gpu }: Machine, id: RunId, slot: Slot): void {
  cpu.busy -= cpu.cores.get(id) ?? 0;
  cpu.cores.delete(id);
  if (slot.kind === 'cpu') {
    cpu.holders.delete(slot.index);
    cpu.spare = Math.min(cpu.spare, slot.index);
    return;
  }
  for (const index of slot.gpus) gpu.shares.get(index)?.delete(id);
}

function isPossible(machine: Machine, demand: Demand, isUsable: (device: GpuDevice) => boolean): boolean {
  if (!hasCoresLater(machine, demand)) return false;
  return demand.gpus === 0 || usableGpus(machine, demand).filter(isUsable).length >= demand.gpus;
}

/** Whether there are enough cores. Where there are no CPU slots, the cores of runs on GPUs are not counted. */
function hasCores({ slots }: CpuPool, { gpus, cores }: Demand, taken: number): boolean {
  return (gpus > 0 && (cores === 0 || slots === 0)) || taken + cores <= slots;
}

/** The part of the state that decides about room on GPUs. */
export type Machine = Pick<SchedulerState, 'cpu' | 'gpu' | 'groups' | 'runs'>;

/** What keeps a run off a GPU: first what no run of ours can change, then the use by our own runs. */
export type Obstacle = 'gone' | 'drained' | 'leased' | 'foreign' | 'busy' | 'memory';

/** The GPUs that may be used, in order of preference. */
function grantedGpus({ gpu }: Pick<SchedulerState, 'gpu'>): GpuDevice[] {
  return gpu.gpus.map((index) => gpu.devices.get(index)!);
}

/** The granted GPUs that the run may be put on. */
export function usableGpus(machine: Pick<SchedulerState, 'gpu'>, { within }: Demand): GpuDevice[] {
  const granted = grantedGpus(machine);
  return within === null ? granted : granted.filter(({ index }) => within.includes(index));
}

/** What keeps a run off the GPU at present; null: nothing. */
export function obstacleNow(machine: Machine, device: GpuDevice, demand: Demand): Obstacle | null {
  const outside = obstacleOutside(device, demand);
  if (outside !== null) return outside;
  if (!hasShare(machine.gpu.shares.get(device.index), demand.perGpu)) return 'busy';
  const room = roomOf(device);
  // A run of unknown memory counts by its share alone, even where others use more memory than expected.
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

/** Whether the GPU could take the run if nobody else used it. */
export function isLargeEnough({ memory }: GpuDevice, demand: Demand): boolean {
  return memory === null || demand.least <= memory;
}

/** MiB that no process is known to take; null where the size of the GPU is unknown. */
export function freeMemory(machine: Machine, device: GpuDevice): number | null {
  const room = roomOf(device);
  if (room === null) return null;
  let free = room;
  for (const id of machine.gpu.shares.get(device.index)?.keys() ?? []) {
    free -= takes(demandOf(machine, machine.runs.get(id)!), room) ?? 0;
  }
  return free;
}

/** MiB of a GPU that other users' processes leave free. */
function roomOf({ memory, foreignMemory }: GpuDevice): number | null {
  return memory === null ? null : memory - foreignMemory;
}

/** Whether one more run fits that shares the GPU with up to `perGpu` runs, itself included. */
export function hasShare(holders: ReadonlyMap<RunId, number> | undefined, perGpu: number): boolean {
  let used = 1 / perGpu;
  for (const other of holders?.values() ?? []) used += 1 / other;
  return used <= 1 + rounding;
}

/** Nine ninths, as floating-point numbers, are more than one. */
const rounding = 1e-9;

/**
 * What a run takes of the machine, as far as it is known. `cores`: CPU slots. `within`: the GPUs it may be put on; null: any.
 *
 * `memory`: MiB on each GPU; null: unknown, so that it counts by its share alone. `least`: MiB it needs on a GPU of its own. They
 * differ only where the figure was observed in other runs, as `memory` then has a margin.
 */
export type Demand = Pick<Need, 'gpus' | 'perGpu'> & {
  memory: number | null;
  least: number;
  cores: number;
  within: readonly GpuIndex[] | null;
};

/** Factor by which a run may exceed the memory that its siblings took. */
const LEARNED_MARGIN = 1.1;

/** The demand of a run: as declared, else as observed in ended runs of its group. */
export function demandOf({ groups }: Pick<SchedulerState, 'groups'>, { need, alone, group }: Run): Demand {
  const { gpus, memory: declared, cpus, within = null } = need;
  const perGpu = alone ? 1 : need.perGpu;
  const cores = cpus ?? (gpus === 0 ? 1 : 0);
  if (declared !== null) return { gpus, perGpu, memory: declared, least: declared, cores, within };
  const peak = groups.get(group)?.peakMemory ?? null;
  const memory = peak === null ? null : Math.ceil(peak * LEARNED_MARGIN);
  return { gpus, perGpu, memory, least: peak ?? 0, cores, within };
}

/** MiB that the run would take on a GPU with `room` MiB left; null: unknown. */
function takes({ memory, least }: Demand, room: number): number | null {
  return memory === null ? null : Math.max(least, Math.min(memory, room));
}
