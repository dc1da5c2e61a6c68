import { GpuIndex } from '../base/ids.js';
import type { GpuReading } from '../executors/gpu/gpu.js';
import type { SlotWish } from '../protocol/command.js';
import { UserError } from '../base/user-error.js';

/** CPU slots, and GPUs by index. */
export type SlotChoice = { cpus: number; gpus: GpuIndex[] };

/**
 * The room that is granted: what the person asked for, else what is granted already, else the whole machine.
 *
 * @param granted What other runs are using now; null when there are none, so that an old choice does not last for ever.
 * Throws a UserError when a GPU was asked for that is not there.
 */
export function chooseSlots(
  wish: SlotWish,
  granted: SlotChoice | null,
  cores: number,
  reading: GpuReading,
): SlotChoice {
  const present = reading.kind === 'gpus' ? reading.gpus.map(({ index }) => GpuIndex.parse(index)) : [];
  return {
    cpus: wish.slots ?? granted?.cpus ?? cores,
    gpus: wish.gpus === undefined ? (granted?.gpus ?? present) : chosenGpus(wish.gpus, reading),
  };
}

function chosenGpus(wish: NonNullable<SlotWish['gpus']>, reading: GpuReading): GpuIndex[] {
  if (wish === 'none') return [];
  const missing = wish.find((index) => !isPresent(index, reading));
  if (missing === undefined) return [...new Set(wish)].map((index) => GpuIndex.parse(index));
  throw new UserError(
    `There is no GPU ${missing} on this machine: ${inventory(reading)}.`,
    'Choose GPUs that are there, or `none`.',
  );
}

/** Where the driver does not answer, the person is believed. */
function isPresent(index: number, reading: GpuReading): boolean {
  return reading.kind === 'unknown' || (reading.kind === 'gpus' && reading.gpus.some((gpu) => gpu.index === index));
}

function inventory(reading: GpuReading): string {
  if (reading.kind !== 'gpus') return 'nvidia-smi was not found';
  return `nvidia-smi shows ${reading.gpus.map(({ index }) => index).join(', ') || 'none'}`;
}
