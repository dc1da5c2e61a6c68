import type { Gpu, GpuProcess, GpuView } from './gpu.js';

/** The facts about a GPU that matter to the scheduler. MiB. */
export type SeenGpuFacts = {
  index: number;
  memory: number | null;
  foreignMemory: number;
  foreign: string[];
  leasedBy: string | null;
  /** False: the driver cannot reach it; absent: it can. */
  present?: boolean;
};

/** Smaller differences do not affect placement, and would fill the journal, MiB. */
const STEP = 256;
/** Share of the memory above which hidden usage counts as a foreign process, as a desktop takes less. */
const MUCH = 0.25;

/**
 * The facts about each GPU that matter to placement, by index. Null before the first reading: reporting no GPUs then would take
 * them from the runs.
 *
 * @param leases `others()` of GpuLeases: runs directory of another supervisor, by GPU uuid.
 */
export function toSeen(view: GpuView, leases: ReadonlyMap<string, string>): SeenGpuFacts[] | null {
  if (view.at === null) return null;
  const lost = (view.lost?.indexes ?? []).map((index) => ({ index, ...unreachable }));
  return [
    ...view.gpus.map((gpu) => {
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
    }),
    ...lost,
  ];
}

const unreachable = { memory: null, foreignMemory: 0, foreign: [], leasedBy: null, present: false };

/** Whether placement could change. A foreign process that grows by a few MiB does not count. */
export function isNews(before: readonly SeenGpuFacts[], now: readonly SeenGpuFacts[]): boolean {
  return before.length !== now.length || now.some((gpu, place) => differs(before[place]!, gpu));
}

function differs(before: SeenGpuFacts, now: SeenGpuFacts): boolean {
  return (
    before.index !== now.index ||
    before.memory !== now.memory ||
    before.present !== now.present ||
    before.leasedBy !== now.leasedBy ||
    before.foreign.join('\n') !== now.foreign.join('\n') ||
    Math.abs(before.foreignMemory - now.foreignMemory) >= STEP
  );
}

/** Describes a process: `python (pid 4711)`. */
function processWords({ name, pid }: GpuProcess): string {
  return `${name ?? 'a process'} (pid ${pid})`;
}

function hiddenWords({ memoryTotal }: Gpu, hidden: number): string[] {
  const isMuch = memoryTotal !== null && hidden >= MUCH * memoryTotal;
  return isMuch ? ['a process not visible from here'] : [];
}
