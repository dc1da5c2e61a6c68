/**
 * Divided GPUs (MIG): instances are named by `nvidia-smi -L`; what they hold, and which process is on which, is said only
 * by the full report, `nvidia-smi -q -x`.
 */
import { instanceIndex } from '../base/ids.js';
import type { Gpu, GpuProcess } from './gpu.js';

/** A GPU as the driver lists it. */
export type DriverRow = Gpu & { isDivided: boolean };
/** A process as the driver lists it: by uuid of the GPU, or of the instance. */
export type DriverProcess = Omit<GpuProcess, 'gpu'> & { uuid: string };

export type Instance = {
  /** Index of the GPU, and of the instance within it. */
  parent: number;
  number: number;
  uuid: string;
  /** `1g.10gb` */
  profile: string;
  memoryTotal: number | null;
  memoryUsed: number | null;
  /** Pids. */
  processes: readonly number[];
};

/** Puts the instances in the place of the GPUs that are divided, and each process where it is. */
export function withInstances(
  rows: readonly DriverRow[],
  instances: readonly Instance[],
  apps: readonly DriverProcess[],
): { gpus: Gpu[]; processes: GpuProcess[] } {
  const gpus = rows.flatMap(({ isDivided, ...gpu }) =>
    isDivided ? instances.filter(({ parent }) => parent === gpu.index).map((instance) => gpuOf(gpu, instance)) : [gpu],
  );
  const processes = apps.flatMap(({ uuid, ...app }) =>
    placesOf(uuid, app.pid, { rows, instances }).map(({ index, isSure }) => ({
      ...app,
      gpu: index,
      memory: isSure ? app.memory : null,
    })),
  );
  return { gpus, processes };
}

/**
 * @param list What `nvidia-smi -L` prints. @param report What `nvidia-smi -q -x` prints; what cannot be read from it is
 * null, for it is the list that says what there is.
 */
export function parseInstances(list: string, report: string): Instance[] {
  const reports = new Map(blocks(report, 'gpu').map((gpu) => [textOf(gpu, 'uuid'), gpu]));
  const found: Instance[] = [];
  let gpu = { index: 0, report: '' };
  for (const line of list.split('\n')) {
    const [, index, gpuUuid] = /^GPU (\d+):.*\(UUID: (\S+)\)/.exec(line) ?? [];
    if (index !== undefined) gpu = { index: Number(index), report: reports.get(gpuUuid!) ?? '' };
    const [, profile, number, uuid] = /^\s+MIG (\S+)\s+Device\s+(\d+): \(UUID: (\S+)\)/.exec(line) ?? [];
    if (uuid === undefined) continue;
    const which = { parent: gpu.index, number: Number(number), uuid, profile: profile! };
    found.push({ ...which, ...reportOf(gpu.report, number!) });
  }
  return found;
}

function gpuOf(gpu: Gpu, { parent, number, uuid, profile, memoryTotal, memoryUsed }: Instance): Gpu {
  const name = `${gpu.name} MIG ${profile}`;
  const own = { index: instanceIndex(parent, number), uuid, name, instanceOf: parent, memoryTotal, memoryUsed };
  return { ...gpu, ...own, utilization: null };
}

type Place = { index: number; isSure: boolean };
type Known = { rows: readonly DriverRow[]; instances: readonly Instance[] };

/** Where a process is. If only the GPU is known, it may be in the way on any of its instances. */
function placesOf(uuid: string, pid: number, { rows, instances }: Known): Place[] {
  const sure = (found: readonly Instance[]) =>
    found.map(({ parent, number }) => ({ index: instanceIndex(parent, number), isSure: found.length === 1 }));
  const row = rows.find((candidate) => candidate.uuid === uuid);
  if (row === undefined) return sure(instances.filter((instance) => instance.uuid === uuid));
  if (!row.isDivided) return [{ index: row.index, isSure: true }];
  const within = instances.filter(({ parent }) => parent === row.index);
  const onIt = within.filter(({ processes }) => processes.includes(pid));
  return onIt.length > 0 ? sure(onIt) : sure(within).map((place) => ({ ...place, isSure: false }));
}

function reportOf(gpu: string, number: string): Pick<Instance, 'memoryTotal' | 'memoryUsed' | 'processes'> {
  const device = blocks(gpu, 'mig_device').find((block) => textOf(block, 'index') === number) ?? '';
  const memory = blocks(device, 'fb_memory_usage')[0] ?? '';
  const place = placeOf(device);
  const onIt = blocks(gpu, 'process_info').filter((process) => place !== null && placeOf(process) === place);
  return {
    memoryTotal: mebibytes(textOf(memory, 'total')),
    memoryUsed: mebibytes(textOf(memory, 'used')),
    processes: onIt.map((process) => Number(textOf(process, 'pid'))),
  };
}

/** An instance is identified by two numbers, which are not its index. */
function placeOf(block: string): string | null {
  const gpuInstance = textOf(block, 'gpu_instance_id');
  return gpuInstance === null ? null : `${gpuInstance}/${textOf(block, 'compute_instance_id')}`;
}

/** What is between the tags. The report never nests an element in one of the same name, except `gpu`, which has an id. */
function blocks(xml: string, tag: string): string[] {
  return [...xml.matchAll(new RegExp(`<${tag}(?: id="[^"]*")?>(.*?)</${tag}>`, 'gs'))].map(([, inner]) => inner!);
}

function textOf(xml: string, tag: string): string | null {
  return new RegExp(`<${tag}>\\s*([^<]*?)\\s*</${tag}>`).exec(xml)?.[1] ?? null;
}

function mebibytes(text: string | null): number | null {
  const amount = /^(\d+) MiB$/.exec(text ?? '')?.[1];
  return amount === undefined ? null : Number(amount);
}
