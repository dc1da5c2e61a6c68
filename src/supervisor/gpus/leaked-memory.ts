import { gpuName, type RunId } from '../../base/ids.js';
import { gpuMemoryHeld, type GpuView } from '../../gpu/gpu.js';

/** The driver needs a moment to notice that a process has gone, ms. */
const PARTING_MS = 2000;

/** Watches whether the processes of ended runs have let go of the memory of their GPUs. */
export class LeakedMemory {
  readonly #pids = new Map<RunId, { pids: readonly number[]; at: number }>();

  /** Whether no ended run is known to have left anything. */
  get isEmpty(): boolean {
    return this.#pids.size === 0;
  }

  /** The run has ended, and had these processes on GPUs when we last looked. `at`: Unix ms. */
  ended(id: RunId, pids: readonly number[], at: number): void {
    if (pids.length > 0) this.#pids.set(id, { pids, at });
  }

  /** The run has begun again, or is forgotten: what it left is now a stranger on its GPU. */
  forget(id: RunId): void {
    this.#pids.delete(id);
  }

  /** What runs still hold, in words, at a new look; null for those that have let go, which is said once. */
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
