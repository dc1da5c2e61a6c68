import * as z from 'zod';
import { GpuIndex, gpuIndexOf, gpuName } from '../../base/ids.js';

/**
 * What a run needs to start: with `gpus` 0 only CPU slots; otherwise so many GPUs, each shared by at most `perGpu` runs. `memory`:
 * MiB it takes on each of them; null: not declared, so that the memory of finished runs of its group counts, if known. `cpus`:
 * cores it reserves, a CPU slot each; absent: one if it takes no GPU, else none. `within`: the GPUs that it may be put on, by
 * `CUDA_VISIBLE_DEVICES` of the launching shell; absent: all that are granted.
 */
export const Need = z.object({
  gpus: z.int().nonnegative(),
  perGpu: z.int().positive(),
  memory: z.number().positive().nullable().default(null),
  cpus: z.int().positive().optional(),
  within: z.array(GpuIndex).optional(),
});
export type Need = z.infer<typeof Need>;

/** Room for one run. */
export const Slot = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('cpu'), index: z.int().nonnegative() }),
  z.object({ kind: z.literal('gpu'), gpus: z.array(GpuIndex).nonempty() }),
]);
export type Slot = z.infer<typeof Slot>;

/** `cpu 0`, `gpu 3`, `gpu 0,1`, `gpu 1:0` (an instance of a divided GPU). */
export function slotName(slot: Slot): string {
  return slot.kind === 'cpu' ? `cpu ${slot.index}` : `gpu ${slot.gpus.map(gpuName).join(',')}`;
}

/** Reads what `slotName` writes; null for anything else. */
export function slotNamed(name: string): Slot | null {
  const cpu = /^cpu (\d{1,9})$/.exec(name)?.[1];
  if (cpu !== undefined) return { kind: 'cpu', index: Number(cpu) };
  const gpus = /^gpu (.+)$/.exec(name)?.[1]?.split(',').map(gpuIndexOf) ?? [];
  return Slot.safeParse({ kind: 'gpu', gpus }).data ?? null;
}

/** The GPUs of a slot; none for a CPU slot. */
export function gpusOf(slot: Slot): readonly GpuIndex[] {
  return slot.kind === 'gpu' ? slot.gpus : [];
}
