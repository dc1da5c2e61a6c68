import { gpuName, type RunId } from '../base/ids.js';

/**
 * One GPU, or one instance of a divided one (MIG), at the time of the reading. Memory in MiB. `null`: the driver does not report
 * it.
 */
export type Gpu = {
  /** Index in PCI bus order; for an instance: `instanceIndex`. */
  index: number;
  /** An id that stays the same when GPUs are renumbered: `GPU-…`, `MIG-…`, AMD's unique id. */
  uuid: string;
  /** PCI address; for an instance that of the whole GPU. */
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
  /** Which processes may compute on it: all, one at a time (unless through MPS), none. */
  computeMode: 'default' | 'exclusive' | 'prohibited' | null;
};

/** A process that computes on a GPU; one on two GPUs is listed twice. */
export type GpuProcess = {
  gpu: number;
  pid: number;
  /** MiB. */
  memory: number | null;
  /** Name of its program, without the folder. */
  name: string | null;
};

/** GPUs that the driver knows and cannot reach, and what it says of them. */
type LostGpus = { readonly indexes: readonly number[]; readonly words: string };

/** `none`: there is no driver. `unknown`: there is one, but it fails; the last reading stays valid. */
export type GpuReading =
  | { kind: 'gpus'; gpus: readonly Gpu[]; processes: readonly GpuProcess[]; lost?: LostGpus }
  | { kind: 'none' }
  | { kind: 'unknown'; reason: string };

/**
 * How many runs may share a GPU, whatever was requested: in exclusive mode it admits one process, unless that is the MPS server.
 */
export function sharesAllowed(gpu: Gpu, hasMps: boolean): number {
  if (gpu.computeMode === 'prohibited') return 0;
  return gpu.computeMode === 'exclusive' && !hasMps ? 1 : Infinity;
}

/** The GPU usage of a run. `memory`: MiB of all its processes on all GPUs; null: unknown. */
export type RunOnGpus = { memory: number | null; pids: number[] };

/** The GPUs and the processes on them, from the last good reading. */
export type GpuView = {
  gpus: readonly Gpu[];
  processes: readonly GpuProcess[];
  byRun: ReadonlyMap<RunId, RunOnGpus>;
  /** Processes that belong to no run of this supervisor, by GPU index. A GPU without any is left out. */
  foreign: ReadonlyMap<number, readonly GpuProcess[]>;
  /** Used MiB that no visible process accounts for (a desktop, other containers), by GPU index. */
  hidden: ReadonlyMap<number, number>;
  /** Null: the driver reaches all of them. */
  lost: LostGpus | null;
  /** Time of the reading, Unix ms; null: there was none yet. */
  at: number | null;
  /** Why the view is not up to date, in words; null: it is. */
  problem: string | null;
};

export const nothingKnown: GpuView = {
  ...{ gpus: [], processes: [], byRun: new Map(), foreign: new Map(), hidden: new Map() },
  ...{ lost: null, at: null, problem: null },
};

/** `GPU 2 does not answer: GPU is lost. …`; null: all of them do. */
export function lostWords({ lost }: Pick<GpuView, 'lost'>): string | null {
  if (lost === null) return null;
  const { indexes, words } = lost;
  const which = indexes.length === 1 ? `GPU ${indexes[0]} does` : `GPUs ${indexes.join(', ')} do`;
  return `${which} not answer: ${words}`;
}

/** Which of these processes still hold memory, as in `GPU 0: 1,024 MiB still held by pid 4711` after a kill. */
export function gpuMemoryHeld(view: GpuView, pids: readonly number[]): GpuProcess[] {
  return view.processes.filter(({ pid, memory }) => pids.includes(pid) && memory !== 0);
}

/**
 * The variables that show a run its GPUs and no others, in the given order.
 *
 * By index in PCI bus order, because some libraries read nothing else; by uuid if an instance (MIG) is among them, which has no
 * index of its own. For AMD, ROCR_VISIBLE_DEVICES selects GPUs, and the other two number them within the selection.
 *
 * @param gpus Indices. Empty: the run sees none. @param inventory The last reading; a GPU missing in it is named by index.
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
