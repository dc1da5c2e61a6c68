import { GpuIndex, gpuName } from '../../base/ids.js';
import { UserError } from '../../base/user-error.js';
import type { GpuView } from '../../gpu/gpu.js';
import type { Ack, RequestedSlots } from '../../protocol/message.js';
import type { Chosen } from '../../scheduler/event.js';
import type { Need } from '../../scheduler/placement/slot.js';
import { isSettled } from '../../scheduler/placement/waiting-reason.js';
import type { SchedulerState } from '../../scheduler/state.js';
import type { Environment } from '../runs/submission-store.js';
import type { CommandHandler, RequestTools } from './request.js';
import { allGpus, chooseSlots, isSameChoice, type Room, type SlotChoice, visibleOf } from '../../launch/slot-choice.js';

/** Changes the slots. */
export const setSlots: CommandHandler<'set-slots'> = async ({ slots: wish }, tools) => {
  const { slots } = await grantSlots(wish, null, tools);
  return { ok: true, message: `${slots.cpus} CPU slots, ${slots.gpus.length} GPUs` };
};

/**
 * Changes the slots if they differ; without a wish, the user's choice and slots in use stay.
 *
 * @param environment Environment of a launch: GPUs that it hides are not added for it, and the driver's tools are looked for there
 * from now on. Null: there is no launch.
 */
export async function grantSlots(
  wish: RequestedSlots,
  environment: Environment | null,
  { state, ask, now, inventory, executor }: RequestTools,
): Promise<Granted> {
  const view = await inventory(environment);
  const most = executor.resources();
  const asked = most.gpus === 'placed' ? wish : { ...wish, gpus: 'none' as const };
  const before = grantedNow(state);
  const was = { cpus: state.cpu.chosen, gpus: state.gpu.chosen };
  const chosen = { cpus: was.cpus || wish.slots !== undefined, gpus: was.gpus || wish.gpus !== undefined };
  const room = { cores: most.slots, view, visible: visibleOf(view, environment) };
  const kept = isSettled(state) ? chosenOf(before, was) : before;
  const isOfLaunch = environment !== null || before.gpus.length === 0;
  const slots = chooseSlots(asked, isOfLaunch ? withOthers(state, kept, room) : { ...kept, gpus: before.gpus }, room);
  const isSame = isSameChoice(slots, before) && chosen.cpus === was.cpus && chosen.gpus === was.gpus;
  if (!isSame) await ask({ type: 'slots-changed', at: now(), ...slots, chosen });
  return { slots, view, visible: room.visible };
}

/** `visible`: GPUs that the shell leaves to the runs of this launch; null: all. */
type Granted = { slots: SlotChoice; view: GpuView; visible: Room['visible'] };

/**
 * Unless a user has chosen: the present GPUs, those that this launch may use, and those of open runs of earlier launches. GPUs that
 * a shell hides are hidden from its own runs only.
 */
function withOthers(state: SchedulerState, kept: Partial<SlotChoice>, room: Room): Partial<SlotChoice> {
  if (state.gpu.chosen) return kept;
  const needs = new Set<Need>();
  for (const { need, state: was } of state.runs.values()) {
    if (was.phase !== 'ended' || was.outcome.kind !== 'done') needs.add(need);
  }
  const limits = new Set([...needs].flatMap(({ within = [] }) => within as readonly number[]));
  const others = allGpus({ ...room, visible: null }).filter(({ index }) => limits.has(index));
  const known = new Map([...(kept.gpus ?? []), ...allGpus(room), ...others].map((gpu) => [gpu.index, gpu]));
  return { ...kept, gpus: [...known.values()] };
}

function grantedNow({ cpu, gpu }: SchedulerState): SlotChoice {
  const gpus = gpu.gpus.map((index) => {
    const { uuid, memory } = gpu.devices.get(index)!;
    return { index, uuid, memory };
  });
  return { cpus: cpu.slots, gpus };
}

/** The part of the slots that a user has chosen. The other part was the whole machine, which may have changed. */
function chosenOf({ cpus, gpus }: SlotChoice, chosen: Chosen): Partial<SlotChoice> {
  return { ...(chosen.cpus ? { cpus } : {}), ...(chosen.gpus ? { gpus } : {}) };
}

/** Drains GPUs, or ends that. */
export const drain: CommandHandler<'drain'> = async ({ gpus: wanted, drained }, { state, ask, now }) => {
  const gpus = drainable(state, wanted, drained);
  if (gpus.length > 0) await ask({ type: 'drain-requested', at: now(), gpus, drained });
  return drainAck(state, gpus, drained);
};

/**
 * The GPUs of a drain (or its end) that it changes.
 *
 * Throws a UserError when one of them may not be used here, as draining it would have no effect.
 */
function drainable({ gpu }: SchedulerState, wanted: readonly number[], drained: boolean): GpuIndex[] {
  const indexes = [...new Set(wanted)].map((index) => GpuIndex.parse(index));
  const unknown = indexes.find((index) => !gpu.gpus.includes(index));
  if (unknown === undefined) return indexes.filter((index) => gpu.devices.get(index)!.drained !== drained);
  const known = gpu.gpus.length === 0 ? 'none' : gpu.gpus.map(gpuName).join(', ');
  throw new UserError(
    `GPU ${gpuName(unknown)} is not in use here; those in use: ${known}.`,
    'Name GPUs that are in use, or change them with `slots --gpus`.',
  );
}

/** `changed`: the result of `drainable`. */
function drainAck({ gpu }: SchedulerState, changed: readonly GpuIndex[], drained: boolean): Ack {
  if (changed.length === 0) {
    return { ok: false, message: drained ? 'drained already' : 'not drained', fix: null };
  }
  const names = `GPU${changed.length === 1 ? '' : 's'} ${changed.map(gpuName).join(', ')}`;
  if (!drained) return { ok: true, message: `${names} no longer drained` };
  const left = new Set(changed.flatMap((index) => [...(gpu.shares.get(index)?.keys() ?? [])])).size;
  const rest = left === 0 ? '' : `; ${left} run${left === 1 ? '' : 's'} still there`;
  return { ok: true, message: `${names} drained${rest}` };
}
