import type { Gpu, GpuProcess, GpuView } from './gpu.js';

/** What stands in the way on a GPU, in the scheduler's words. MiB. */
export type SeenGpuFacts = {
  index: number;
  memory: number | null;
  foreignMemory: number;
  foreign: string[];
  leasedBy: string | null;
};

/** Differences below this do not change what fits, and would fill the journal, MiB. */
const STEP = 256;
/** A share of the memory which a desktop does not take: whoever holds it without being seen is a user. */
const MUCH = 0.25;

/**
 * The facts about each GPU that matter to placement, by index. Null while nothing was ever read: to say "no GPUs" then
 * would take them from the runs.
 *
 * @param leases `others()` of GpuLeases: runs directory of another supervisor, by GPU uuid.
 */
export function toSeen(view: GpuView, leases: ReadonlyMap<string, string>): SeenGpuFacts[] | null {
  if (view.at === null) return null;
  return view.gpus.map((gpu) => {
    const foreign = view.foreign.get(gpu.index) ?? [];
    const hidden = view.hidden.get(gpu.index) ?? 0;
    const known = foreign.reduce((sum, { memory }) => sum + (memory ?? 0), 0);
    return {
      index: gpu.index,
      memory: gpu.memoryTotal,
      foreignMemory: known + hidden,
      foreign: [...foreign.map(processWords), ...hiddenWords(gpu, hidden)],
      leasedBy: leases.get(gpu.uuid) ?? null,
    };
  });
}

/** Whether placement could come out differently. A foreign process that grows by a few MiB is no news. */
export function isNews(before: readonly SeenGpuFacts[], now: readonly SeenGpuFacts[]): boolean {
  return before.length !== now.length || now.some((gpu, place) => differs(before[place]!, gpu));
}

function differs(before: SeenGpuFacts, now: SeenGpuFacts): boolean {
  return (
    before.index !== now.index ||
    before.memory !== now.memory ||
    before.leasedBy !== now.leasedBy ||
    before.foreign.join('\n') !== now.foreign.join('\n') ||
    Math.abs(before.foreignMemory - now.foreignMemory) >= STEP
  );
}

/** `python (pid 4711)`. */
function processWords({ name, pid }: GpuProcess): string {
  return `${name ?? 'a process'} (pid ${pid})`;
}

function hiddenWords({ memoryTotal }: Gpu, hidden: number): string[] {
  const isMuch = memoryTotal !== null && hidden >= MUCH * memoryTotal;
  return isMuch ? ['a process not visible from here'] : [];
}
