import { gpuName, type RunId } from '../../base/ids.js';
import { gpuMemoryHeld, type GpuView } from '../../gpu/gpu.js';

/** Time in which the driver notices that a process has ended, ms. */
const PARTING_MS = 2000;

/** Watches whether the processes of ended runs have freed their GPU memory. */
export class LeakedMemory {
  readonly #pids = new Map<RunId, { pids: readonly number[]; at: number }>();

  /** Whether no ended run holds GPU memory, as far as known. */
  get isEmpty(): boolean {
    return this.#pids.size === 0;
  }

  /** Records an ended run that had these processes on GPUs at the last look. `at`: Unix ms. */
  ended(id: RunId, pids: readonly number[], at: number): void {
    if (pids.length > 0) this.#pids.set(id, { pids, at });
  }

  /** Forgets a run that has started again, or was removed: its leftovers count as foreign. */
  forget(id: RunId): void {
    this.#pids.delete(id);
  }

  /** The GPU memory that ended runs still hold, in words; null, once, for those that have freed it. */
  seen(view: GpuView, now: number): Map<RunId, string | null> {
    const found = new Map<RunId, string | null>();
    if (view.problem !== null) return found;
    for (const [id, { pids, at }] of this.#pids) {
      if (now - at < PARTING_MS) continue;
      const held = gpuMemoryHeld(view, pids);
      found.set(id, held.length === 0 ? null : held.map(words).join('; '));
      if (held.length === 0) this.#pids.delete(id);
    }
    return found;
  }
}

function words({ gpu, memory, pid }: { gpu: number; memory: number | null; pid: number }): string {
  const amount = memory === null ? 'memory' : `${memory.toLocaleString('en-US')} MiB`;
  return `GPU ${gpuName(gpu)}: ${amount} still held by pid ${pid}`;
}
