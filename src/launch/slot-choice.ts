import { GpuIndex, gpuName } from '../base/ids.js';
import { UserError } from '../base/user-error.js';
import { type Gpu, type GpuView, lostWords } from '../gpu/gpu.js';
import { type VisibleGpus, visibleGpus } from '../gpu/visible-gpus.js';
import type { RequestedSlots } from '../protocol/message.js';
import type { GrantedGpu } from '../scheduler/event.js';
import type { PlannedRun } from '../spec/planned-run.js';

/** CPU slots, and GPUs in order of preference. */
export type SlotChoice = { cpus: number; gpus: GrantedGpu[] };

/** The resources of the machine. `visible`: GPUs that the launching shell leaves visible; null: all. */
export type Room = { cores: number; view: GpuView; visible: VisibleGpus | null };

/**
 * The slots to use: those that the user asked for, else the present ones, else the whole machine. Throws a UserError when a
 * requested GPU does not exist, or the launching shell hides it.
 *
 * @param granted Slots that stay unless the request changes them: those in use, and those that a user has chosen before.
 */
export function chooseSlots(requested: RequestedSlots, granted: Partial<SlotChoice> | null, room: Room): SlotChoice {
  const gpus = requested.gpus === undefined ? granted?.gpus : chosenGpus(requested.gpus, room);
  return {
    cpus: requested.slots ?? granted?.cpus ?? room.cores,
    gpus: (gpus ?? allGpus(room)).map((gpu) => asSeen(gpu, room.view)),
  };
}

/** The GPUs that the launching shell leaves visible; null: all. If the driver has never answered, indices are assumed valid. */
export function visibleOf(view: GpuView, environment: Readonly<Record<string, string>> | null): VisibleGpus | null {
  return environment === null ? null : visibleGpus(view.at === null ? null : view.gpus, environment);
}

/** All GPUs that runs of this launch may use, in the order of its shell. */
export function allGpus({ view, visible }: Omit<Room, 'cores'>): GrantedGpu[] {
  // One that the driver cannot reach is granted too: runs that wait name it, and use it when it is back.
  const indexes = [...usable(view).map(({ index }) => index), ...(view.lost?.indexes ?? [])];
  const left = visible === null ? indexes : visible.indexes.filter((index) => indexes.includes(index));
  return left.map((index) => asSeen(unseen(index), view));
}

/**
 * Throws a UserError if runs reserve more cores than there are CPU slots: they would wait for ever.
 *
 * @param choice The slots in use. Runs on a GPU reserve no cores if there are no CPU slots.
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

/** Whether two choices are equal. */
export function isSameChoice(a: SlotChoice, b: SlotChoice): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

/** GPUs on which the driver allows computation. */
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

function chosenGpus(requested: NonNullable<RequestedSlots['gpus']>, { view, visible }: Room): GrantedGpu[] {
  if (requested === 'none') return [];
  refuseHidden(requested, visible);
  const missing = requested.find((index) => !isPresent(index, view));
  if (missing === undefined) return [...new Set(requested)].map(unseen);
  throw new UserError(
    `There is no GPU ${gpuName(missing)} on this machine: ${inventory(view)}.`,
    'Choose existing GPUs, or `none`.',
  );
}

function refuseHidden(requested: readonly number[], visible: VisibleGpus | null): void {
  const hidden = requested.find((index) => visible !== null && !visible.indexes.includes(index));
  if (visible === null || hidden === undefined) return;
  const names = visible.said.split(' ').map((word) => `-u ${word.slice(0, word.indexOf('='))}`);
  const choice =
    visible.indexes.length === 0 ? '' : `Choose among GPU ${visible.indexes.map(gpuName).join(', ')}, or l`;
  throw new UserError(
    `GPU ${gpuName(hidden)} is hidden by the environment of this shell: ${visible.said}.`,
    `${choice || 'L'}aunch without the limit: \`env ${names.join(' ')} memrl-tui …\`.`,
  );
}

/** Whether a GPU exists; assumed if the driver has never answered. */
function isPresent(index: number, view: GpuView): boolean {
  return view.at === null || usable(view).some((gpu) => gpu.index === index);
}

function inventory(view: GpuView): string {
  if (view.gpus.length === 0) return 'nvidia-smi was not found';
  const shown = usable(view).map(({ index }) => gpuName(index));
  const lost = lostWords(view);
  return `nvidia-smi shows ${shown.join(', ') || 'none that may be used'}${lost === null ? '' : `; ${lost}`}`;
}
