import { z } from 'zod';

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

/** Index of a GPU on this machine in PCI bus order, as `CUDA_VISIBLE_DEVICES` counts them. */
export const GpuIndex = z.int().nonnegative().brand<'GpuIndex'>();
export type GpuIndex = z.infer<typeof GpuIndex>;
