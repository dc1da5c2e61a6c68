import { gpuIndexOf } from '../base/ids.js';
import { UserError } from '../base/user-error.js';
import type { SlotFlags, SlotOptions } from './options.js';

export function requestedSlots({ slots, gpus, perGpu }: SlotOptions): SlotFlags {
  return {
    ...(slots === undefined ? {} : { slots }),
    ...(gpus === undefined ? {} : { gpus: gpus === 'none' ? 'none' : gpuList('--gpus', gpus.split(',')) }),
    ...(perGpu === undefined ? {} : { perGpu }),
  };
}

/** Parses GPUs in order of preference. `1:0` is an instance of a divided GPU (MIG). */
export function gpuList(option: string, names: readonly string[]): number[] {
  const indexes = names.map((name) => {
    const index = gpuIndexOf(name.trim());
    if (index !== null) return index;
    throw new UserError(
      `${option} ${names.join(',')} is not a list of GPUs: "${name}" is none.`,
      `Write for example \`${option} 0,1\`, or 1:0 for the first instance of GPU 1${option === '--gpus' ? '; `--gpus none` runs on the CPU' : ''}.`,
    );
  });
  return [...new Set(indexes)];
}
