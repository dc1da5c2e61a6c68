import type { GpuIndex, RunId } from '../base/ids.js';
import type { Need, Slot } from './slot.js';
import type { CpuPool, GpuPool, SchedulerState } from './state.js';

type Pools = Pick<SchedulerState, 'cpu' | 'gpu'>;

/** The slot with the lowest index that satisfies the need, or null while there is none. */
export function freeSlot(pools: Pools, need: Need): Slot | null {
  return need.gpus === 0 ? freeCpu(pools.cpu) : freeGpus(pools.gpu, need);
}

/** Whether the need could be met if no other run held anything. */
export function isPossible({ cpu, gpu }: Pools, need: Need): boolean {
  return need.gpus === 0 ? cpu.slots > 0 : need.gpus <= gpu.gpus.length;
}

/** GPUs that have room for one more run of this need. */
export function roomyGpus({ gpus, shares }: GpuPool, { perGpu }: Need): GpuIndex[] {
  return gpus.filter((gpu) => usedShare(shares.get(gpu)) + 1 / perGpu <= 1 + rounding);
}

export function hold({ cpu, gpu }: Pools, id: RunId, slot: Slot, need: Need): void {
  if (slot.kind === 'cpu') {
    cpu.holders.set(slot.index, id);
    return;
  }
  for (const index of slot.gpus) {
    const holders = gpu.shares.get(index) ?? new Map<RunId, number>();
    gpu.shares.set(index, holders.set(id, need.perGpu));
  }
}

export function release({ cpu, gpu }: Pools, id: RunId, slot: Slot): void {
  if (slot.kind === 'cpu') {
    cpu.holders.delete(slot.index);
    return;
  }
  for (const index of slot.gpus) gpu.shares.get(index)?.delete(id);
}

/** Twelve runs of a twelfth each do not add up to exactly one. */
const rounding = 1e-9;

function freeCpu({ slots, holders }: CpuPool): Slot | null {
  if (holders.size >= slots) return null;
  for (let index = 0; index < slots; index++) if (!holders.has(index)) return { kind: 'cpu', index };
  return null;
}

function freeGpus(pool: GpuPool, need: Need): Slot | null {
  const [first, ...others] = roomyGpus(pool, need).slice(0, need.gpus);
  if (first === undefined || others.length + 1 < need.gpus) return null;
  return { kind: 'gpu', gpus: [first, ...others] };
}

function usedShare(holders: ReadonlyMap<RunId, number> | undefined): number {
  let used = 0;
  for (const perGpu of holders?.values() ?? []) used += 1 / perGpu;
  return used;
}
