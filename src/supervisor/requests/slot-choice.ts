import { GpuIndex, gpuName } from '../../base/ids.js';
import { UserError } from '../../base/user-error.js';
import type { Gpu, GpuView } from '../../gpu/gpu.js';
import type { RequestedSlots } from '../../protocol/message.js';
import type { GrantedGpu } from '../../scheduler/event.js';

/** CPU slots, and GPUs in the order in which they are preferred. */
export type SlotChoice = { cpus: number; gpus: GrantedGpu[] };

/**
 * The room that is granted: what the person asked for, else what is granted already, else the whole machine.
 *
 * @param granted What stays as it is unless the wish says otherwise: what runs are using now, and what a person has once chosen.
 * Throws a UserError when a GPU was asked for that is not there.
 */
export function chooseSlots(
  wish: RequestedSlots,
  granted: Partial<SlotChoice> | null,
  cores: number,
  view: GpuView,
): SlotChoice {
  const gpus = wish.gpus === undefined ? granted?.gpus : chosenGpus(wish.gpus, view);
  return {
    cpus: wish.slots ?? granted?.cpus ?? cores,
    gpus: (gpus ?? usable(view).map(({ index }) => unseen(index))).map((gpu) => asSeen(gpu, view)),
  };
}

/** Whether a choice would change nothing. */
export function isSameChoice(a: SlotChoice, b: SlotChoice): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

/** GPUs that the driver lets anyone compute on. */
function usable({ gpus }: GpuView): Gpu[] {
  return gpus.filter(({ computeMode }) => computeMode !== 'prohibited');
}

function unseen(index: number): GrantedGpu {
  return { index: GpuIndex.parse(index), uuid: null, memory: null };
}

function asSeen({ index, uuid, memory }: GrantedGpu, { gpus }: GpuView): GrantedGpu {
  const seen = gpus.find((gpu) => gpu.index === index);
  return { index, uuid: seen?.uuid ?? uuid, memory: seen?.memoryTotal ?? memory };
}

function chosenGpus(wish: NonNullable<RequestedSlots['gpus']>, view: GpuView): GrantedGpu[] {
  if (wish === 'none') return [];
  const missing = wish.find((index) => !isPresent(index, view));
  if (missing === undefined) return [...new Set(wish)].map(unseen);
  throw new UserError(
    `There is no GPU ${gpuName(missing)} on this machine: ${inventory(view)}.`,
    'Choose existing GPUs, or `none`.',
  );
}

/** Where the driver has never answered, the person is believed. */
function isPresent(index: number, view: GpuView): boolean {
  return view.at === null || usable(view).some((gpu) => gpu.index === index);
}

function inventory(view: GpuView): string {
  if (view.gpus.length === 0) return 'nvidia-smi was not found';
  return `nvidia-smi shows ${
    usable(view)
      .map(({ index }) => gpuName(index))
      .join(', ') || 'none that may be used'
  }`;
}
