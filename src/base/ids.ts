import * as z from 'zod';

/** Characters that are safe in a folder name on every file system and need no quoting in a shell. */
const folderName = '[A-Za-z0-9_][A-Za-z0-9._=+,@-]*';

/** A folder name made of safe characters: the name of a sweep, a group or a run. */
export const Name = z
  .string()
  .max(200)
  .regex(
    new RegExp(`^${folderName}$`),
    'use letters, digits and . _ = + , @ - (and begin with a letter, a digit or _)',
  );

/** One run of one sweep: `sweep/run`, e.g. `abcd/C_dense_multi_N64_s0`. Also its path below the runs directory. */
export const RunId = z
  .string()
  .regex(new RegExp(`^${folderName}/${folderName}$`))
  .brand<'RunId'>();
export type RunId = z.infer<typeof RunId>;

/** One group of one sweep: `sweep/group`, e.g. `abcd/C`. */
export const GroupId = z
  .string()
  .regex(new RegExp(`^${folderName}/${folderName}$`))
  .brand<'GroupId'>();
export type GroupId = z.infer<typeof GroupId>;

/** The sweep of a run or a group. */
export function sweepOf(id: string): string {
  return id.slice(0, id.indexOf('/'));
}

/** The name of a run or a group within its sweep. */
export function nameOf(id: string): string {
  return id.slice(id.indexOf('/') + 1);
}

/**
 * Index of a GPU on this machine in PCI bus order, as `CUDA_VISIBLE_DEVICES` counts them. Instance `k` of GPU `p`, where a
 * GPU is divided (MIG), has the index `1000 · (p + 1) + k`, so that it never clashes with a whole one.
 */
export const GpuIndex = z.int().nonnegative().brand<'GpuIndex'>();
export type GpuIndex = z.infer<typeof GpuIndex>;

const INSTANCES = 1000;

/** GPUs of the first host have indexes from here on where a window shows several hosts, those of the second from twice this. */
export const GPUS_OF_A_HOST = 1_000_000;

/** `3`, `1:0` for the first instance of GPU 1, `2/3` for GPU 3 of the second host. */
export function gpuName(index: number): string {
  if (index >= GPUS_OF_A_HOST) return `${Math.floor(index / GPUS_OF_A_HOST)}/${gpuName(index % GPUS_OF_A_HOST)}`;
  return index < INSTANCES ? String(index) : `${Math.floor(index / INSTANCES) - 1}:${index % INSTANCES}`;
}

/** The index of an instance of a divided GPU. */
export function instanceIndex(gpu: number, instance: number): GpuIndex {
  return GpuIndex.parse(INSTANCES * (gpu + 1) + instance);
}

/** Reads what `gpuName` writes; null for anything else. */
export function gpuIndexOf(name: string): GpuIndex | null {
  const [, gpu, instance] = /^(\d{1,3})(?::(\d{1,3}))?$/.exec(name) ?? [];
  if (gpu === undefined) return null;
  return instance === undefined ? GpuIndex.parse(Number(gpu)) : instanceIndex(Number(gpu), Number(instance));
}

/** Name of the group of a sweep whose file has no groups. */
export const unnamedGroup = 'runs';

/** What the only group of a sweep is called: "3 runs of train" says more than "of runs". */
export function onlyGroupName(sweep: string, group: string): string {
  return group === unnamedGroup ? sweep : group;
}
