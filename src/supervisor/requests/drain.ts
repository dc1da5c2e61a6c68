import { GpuIndex, gpuName } from '../../base/ids.js';
import { UserError } from '../../base/user-error.js';
import type { Ack } from '../../protocol/message.js';
import type { SchedulerState } from '../../scheduler/state.js';
import type { CommandHandler } from './request.js';

/** Keeps new runs away from GPUs, or lets them come again. */
export const drain: CommandHandler<'drain'> = async ({ gpus: wanted, drained }, { state, ask, now }) => {
  const gpus = drainable(state, wanted, drained);
  if (gpus.length > 0) await ask({ type: 'drain-requested', at: now(), gpus, drained });
  return drainAck(state, gpus, drained);
};

/**
 * The GPUs of a drain (or of its end) for which it changes anything.
 *
 * Throws a UserError when one of them may not be used here: to drain it would keep nothing away.
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

/** `changed`: what `drainable` gave. */
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
