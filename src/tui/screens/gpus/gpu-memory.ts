import type { FleetPort, GpuSummary, RunSummary, FleetStatus } from '../../state/port.js';
import { groupBy } from '../../../base/group-by.js';
import type { NodeStatus } from '../../../protocol/run-summary.js';

/** Usage of a GPU's memory in MiB. `hidden`: in use by processes that are not visible (a desktop, another container). */
export type GpuMemory = { readonly runs: number; readonly foreign: number; readonly hidden: number };

/** `runs`: the runs placed on the GPU. For a run on several GPUs only the sum is known, which is assumed to be divided evenly. */
export function gpuMemory({ memoryUsed, foreign }: GpuSummary, runs: readonly RunSummary[]): GpuMemory {
  const ours = runs.reduce((sum, run) => sum + (memoryHere(run) ?? 0), 0);
  const theirs = foreign.reduce((sum, { memory }) => sum + (memory ?? 0), 0);
  const used = memoryUsed ?? ours + theirs;
  const seen = Math.min(used, ours);
  const strangers = Math.min(used - seen, theirs);
  return { runs: seen, foreign: strangers, hidden: used - seen - strangers };
}

/** MiB of a run on one of its GPUs; null: unknown. */
export function memoryHere({ gpuMemory: sum, gpus }: RunSummary): number | null {
  return sum === null ? null : sum / Math.max(1, gpus.length);
}

/** The known runs placed on a GPU. */
export function runsOn({ runs }: GpuSummary, all: FleetPort['runs']): RunSummary[] {
  return runs.flatMap((id) => all.get(id as RunSummary['id']) ?? []);
}

/** Utilization of a GPU in percent, oldest first, five seconds apart; null where the driver reported none. */
export type GpuUse = (index: number) => readonly (number | null)[];

/** A node of a cluster and the runs that are on it. `status`: null when the cluster has not told of it (yet). */
export type ShownNode = {
  readonly name: string;
  readonly status: NodeStatus | null;
  readonly runs: readonly RunSummary[];
};

/** The nodes that the screen lists, those with runs first; empty where the runs are on this machine. */
export function shownNodes({ nodes = [] }: FleetStatus, runs: Iterable<RunSummary>): ShownNode[] {
  const placed = groupBy([...runs].filter(isOnNode), ({ slot }) => slot!);
  const told = new Map(nodes.map((node) => [node.name, node]));
  const names = [...[...placed.keys()].toSorted(), ...[...told.keys()].filter((name) => !placed.has(name))];
  return names.map((name) => ({ name, status: told.get(name) ?? null, runs: placed.get(name) ?? [] }));
}

/** Whether another program has placed the run on a node. */
function isOnNode({ slot }: RunSummary): boolean {
  return slot !== null && !/^(cpu|gpu) /.test(slot);
}
