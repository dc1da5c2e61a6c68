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
