import { GpuIndex, gpuName } from '../../base/ids.js';
import { UserError } from '../../base/user-error.js';
import type { Executor } from '../../executors/executor.js';
import type { GpuView } from '../../gpu/gpu.js';
import type { Ack, RequestedSlots } from '../../protocol/message.js';
import type { Chosen } from '../../scheduler/event.js';
import type { Need } from '../../scheduler/placement/slot.js';
import { isSettled } from '../../scheduler/placement/waiting-reason.js';
import type { SchedulerState } from '../../scheduler/state.js';
import type { EventLoop } from '../core/event-loop.js';
import type { GpuWatch } from '../gpus/gpu-watch.js';
import type { Environment } from '../runs/submission-store.js';
import { allGpus, chooseSlots, isSameChoice, type Room, type SlotChoice, visibleOf } from '../../launch/slot-choice.js';

type SlotPorts = {
  loop: Pick<EventLoop, 'state' | 'now' | 'ask'>;
  gpus: Pick<GpuWatch, 'inventory'>;
  executor: Pick<Executor, 'resources'>;
};

/** The slots of the supervisor, and the GPUs that take no runs. */
export class Slots {
  readonly #ports: SlotPorts;

  constructor(ports: SlotPorts) {
    this.#ports = ports;
  }

  /** Whether runs are placed on GPUs here; otherwise the executor finds them a place, and each takes one slot. */
  get arePlaced(): boolean {
    return this.#ports.executor.resources().gpus === 'placed';
  }

  /** Changes the slots. */
  async set(wish: RequestedSlots): Promise<Ack> {
    const { slots } = await this.grant(wish, null);
    return { ok: true, message: `${slots.cpus} CPU slots, ${slots.gpus.length} GPUs` };
  }

  /**
   * Changes the slots if they differ; without a wish, the user's choice and slots in use stay.
   *
   * @param environment Environment of a launch: GPUs that it hides are not added for it, and the driver's tools are looked for
   * there from now on. Null: there is no launch.
   */
  async grant(wish: RequestedSlots, environment: Environment | null): Promise<Granted> {
    const { loop, gpus, executor } = this.#ports;
    const { state } = loop;
    const view = await gpus.inventory(environment);
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
    if (!isSame) await loop.ask({ type: 'slots-changed', at: loop.now(), ...slots, chosen });
    return { slots, view, visible: room.visible };
  }

  /** Drains GPUs, or ends that. Rejects with a UserError where one of them may not be used here. */
  async drain(wanted: readonly number[], drained: boolean): Promise<Ack> {
    const { loop } = this.#ports;
    const gpus = drainable(loop.state, wanted, drained);
    if (gpus.length > 0) await loop.ask({ type: 'drain-requested', at: loop.now(), gpus, drained });
    return drainAck(loop.state, gpus, drained);
  }
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
