import { GpuIndex, gpuName } from '../../base/ids.js';
import { UserError } from '../../base/user-error.js';
import type { Gpu, GpuView } from '../../gpu/gpu.js';
import { type VisibleGpus, visibleGpus } from '../../gpu/visible-gpus.js';
import type { RequestedSlots } from '../../protocol/message.js';
import type { GrantedGpu } from '../../scheduler/event.js';
import type { PlannedRun } from '../../spec/planned-run.js';

/** CPU slots, and GPUs in the order in which they are preferred. */
export type SlotChoice = { cpus: number; gpus: GrantedGpu[] };

/** What there is to choose from. `visible`: what the shell of a launch leaves to its runs; null: all. */
export type Room = { cores: number; view: GpuView; visible: VisibleGpus | null };

/**
 * The room that is granted: what the person asked for, else what is granted already, else the whole machine.
 *
 * @param granted What stays as it is unless the wish says otherwise: what runs are using now, and what a person has once chosen.
 * Throws a UserError when a GPU was asked for that is not there, or that the shell of the launch hides.
 */
export function chooseSlots(wish: RequestedSlots, granted: Partial<SlotChoice> | null, room: Room): SlotChoice {
  const gpus = wish.gpus === undefined ? granted?.gpus : chosenGpus(wish.gpus, room);
  return {
    cpus: wish.slots ?? granted?.cpus ?? room.cores,
    gpus: (gpus ?? allGpus(room)).map((gpu) => asSeen(gpu, room.view)),
  };
}

/** What the shell of a launch leaves to its runs; null: all. Where the driver has never answered, indexes are believed. */
export function visibleOf(view: GpuView, environment: Readonly<Record<string, string>> | null): VisibleGpus | null {
  return environment === null ? null : visibleGpus(view.at === null ? null : view.gpus, environment);
}

/** All GPUs that runs of this launch may use, in the order in which its shell names them. */
export function allGpus({ view, visible }: Omit<Room, 'cores'>): GrantedGpu[] {
  const indexes = usable(view).map(({ index }) => index);
  const left = visible === null ? indexes : visible.indexes.filter((index) => indexes.includes(index));
  return left.map((index) => asSeen(unseen(index), view));
}

/**
 * Throws a UserError where runs reserve more cores than are granted: they would wait for ever.
 *
 * @param choice What is granted. Runs on a GPU reserve none where there are no CPU slots.
 */
export function refuseTooManyCores(runs: readonly PlannedRun[], { cpus, gpus }: SlotChoice): void {
  const run = runs.find(({ resources }) => {
    const isOnGpu = resources.gpus === 'auto' ? gpus.length > 0 : resources.gpus > 0;
    return (resources.cpus ?? 1) > cpus && (resources.cpus ?? 1) > 1 && !(isOnGpu && cpus === 0);
  });
  if (run === undefined) return;
  const { cpus: cores } = run.resources;
  throw new UserError(
    `Each run of group ${run.group} reserves ${cores} cores, and there are ${cpus} CPU slots.`,
    `Lower \`cpus\` in \`resources\`, or grant more slots than there are cores: \`--slots ${cores}\`.`,
  );
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

function chosenGpus(wish: NonNullable<RequestedSlots['gpus']>, { view, visible }: Room): GrantedGpu[] {
  if (wish === 'none') return [];
  refuseHidden(wish, visible);
  const missing = wish.find((index) => !isPresent(index, view));
  if (missing === undefined) return [...new Set(wish)].map(unseen);
  throw new UserError(
    `There is no GPU ${gpuName(missing)} on this machine: ${inventory(view)}.`,
    'Choose existing GPUs, or `none`.',
  );
}

function refuseHidden(wish: readonly number[], visible: VisibleGpus | null): void {
  const hidden = wish.find((index) => visible !== null && !visible.indexes.includes(index));
  if (visible === null || hidden === undefined) return;
  const names = visible.said.split(' ').map((word) => `-u ${word.slice(0, word.indexOf('='))}`);
  const choice =
    visible.indexes.length === 0 ? '' : `Choose among GPU ${visible.indexes.map(gpuName).join(', ')}, or l`;
  throw new UserError(
    `GPU ${gpuName(hidden)} is hidden by the environment of this shell: ${visible.said}.`,
    `${choice || 'L'}aunch without the limit: \`env ${names.join(' ')} memrl-tui …\`.`,
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
