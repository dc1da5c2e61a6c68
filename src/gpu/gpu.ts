import { gpuName, type RunId } from '../base/ids.js';

/**
 * One GPU, or one instance of a divided one (MIG), at the moment of the reading. Memory in MiB. `null`: the driver does
 * not say.
 */
export type Gpu = {
  /** In PCI bus order; of an instance: `instanceIndex`. */
  index: number;
  /** What stays the same when GPUs are renumbered: `GPU-…`, `MIG-…`, AMD's unique id. */
  uuid: string;
  /** PCI address; that of the whole GPU for an instance. */
  bus: string | null;
  name: string;
  vendor: 'nvidia' | 'amd';
  /** Index of the GPU this is an instance of; null for a whole one. */
  instanceOf: number | null;
  memoryTotal: number | null;
  memoryUsed: number | null;
  /** Percent. */
  utilization: number | null;
  /** Degrees Celsius. */
  temperature: number | null;
  /** Watts. */
  power: number | null;
  /** Who may compute on it: all, one process at a time (unless through MPS), nobody. */
  computeMode: 'default' | 'exclusive' | 'prohibited' | null;
};

/** A process that computes on a GPU; one on two GPUs is listed twice. */
export type GpuProcess = {
  gpu: number;
  pid: number;
  /** MiB. */
  memory: number | null;
  /** Of its program, without the folder. */
  name: string | null;
};

/** `none`: no driver here. `unknown`: there is one, and it is sick; what was known before still holds. */
export type GpuReading =
  | { kind: 'gpus'; gpus: readonly Gpu[]; processes: readonly GpuProcess[] }
  | { kind: 'none' }
  | { kind: 'unknown'; reason: string };

/** How many runs may share a GPU, whatever was asked for: an exclusive one admits one process, unless it is the MPS server. */
export function sharesAllowed(gpu: Gpu, hasMps: boolean): number {
  if (gpu.computeMode === 'prohibited') return 0;
  return gpu.computeMode === 'exclusive' && !hasMps ? 1 : Infinity;
}

/** What a run holds on GPUs. `memory`: MiB, all its processes on all GPUs together; null: not known. */
export type RunOnGpus = { memory: number | null; pids: number[] };

/** Everything known about the GPUs and who is on them, from the last good reading. */
export type GpuView = {
  gpus: readonly Gpu[];
  processes: readonly GpuProcess[];
  byRun: ReadonlyMap<RunId, RunOnGpus>;
  /** By GPU index: processes of nobody's run here. A GPU without any is not in it. */
  foreign: ReadonlyMap<number, readonly GpuProcess[]>;
  /** By GPU index: MiB in use that no visible process accounts for (a desktop, other containers). */
  hidden: ReadonlyMap<number, number>;
  /** When it was read, Unix ms; null: never yet, and nothing is known. */
  at: number | null;
  /** Why this is not fresher, in words; null when it is fresh. */
  problem: string | null;
};

export const nothingKnown: GpuView = {
  ...{ gpus: [], processes: [], byRun: new Map(), foreign: new Map(), hidden: new Map(), at: null, problem: null },
};

/** Which of these processes still hold memory, for `GPU 0: 1,024 MiB still held by pid 4711` after a kill. */
export function gpuMemoryHeld(view: GpuView, pids: readonly number[]): GpuProcess[] {
  return view.processes.filter(({ pid, memory }) => pids.includes(pid) && memory !== 0);
}

/**
 * The variables that show a run its GPUs and no others, in the given order.
 *
 * By index in PCI bus order, because some libraries read nothing else; by uuid where an instance (MIG) is among them, which
 * has no index of its own. For AMD, ROCR_VISIBLE_DEVICES chooses, and the other two count within what it has chosen.
 *
 * @param gpus Indexes. Empty: the run sees none. @param inventory What was last read; a GPU missing in it is named by index.
 */
export function visibleDevices(gpus: readonly number[], inventory: readonly Gpu[]): Record<string, string> {
  const known = gpus.map((index) => inventory.find((gpu) => gpu.index === index));
  if ((known[0] ?? inventory[0])?.vendor === 'amd') return visibleToRocm(gpus);
  const hasInstances = known.some((gpu) => gpu !== undefined && gpu.instanceOf !== null);
  const names = gpus.map((index, place) => (hasInstances ? known[place]?.uuid : undefined) ?? gpuName(index));
  return { CUDA_DEVICE_ORDER: 'PCI_BUS_ID', CUDA_VISIBLE_DEVICES: names.join(',') };
}

function visibleToRocm(gpus: readonly number[]): Record<string, string> {
  if (gpus.length === 0) return { ROCR_VISIBLE_DEVICES: '-1', HIP_VISIBLE_DEVICES: '-1', CUDA_VISIBLE_DEVICES: '' };
  const within = gpus.map((_, place) => place).join(',');
  return { ROCR_VISIBLE_DEVICES: gpus.join(','), HIP_VISIBLE_DEVICES: within, CUDA_VISIBLE_DEVICES: within };
}
