import { UserError } from '../../base/user-error.js';
import type { Fleet, FleetStatus } from '../../client/fleet.js';
import { promised, withFleet } from '../open-fleet.js';
import {
  type CommonOptions,
  gpuList,
  requestedSlots,
  type SlotFlags,
  type SlotOptions,
  wholeNumber,
} from '../options.js';
import { slotLines, slotsStatus } from '../show/slot-lines.js';
import { outputWidth, print, printAnswer, remark } from '../terminal.js';

/** `memrl-tui slots [N]`: shows or changes the slots. Running runs stay where they are. */
export async function slots([count]: readonly string[], options: CommonOptions & SlotOptions): Promise<number> {
  const wish = requestedSlots({
    ...options,
    ...(count === undefined ? {} : { slots: wholeNumber('slots', 0)(count) }),
  });
  return withFleet(options, async (fleet) => {
    if (Object.keys(wish).length > 0) await change(fleet, wish);
    if (options.json === true) printAnswer('slots', { ...slotsStatus(fleet.status), problem: fleet.status.problem });
    else print(slotLines(fleet.status, outputWidth()));
    return 0;
  });
}

async function change(fleet: Fleet, wish: SlotFlags): Promise<void> {
  remark(promised(await fleet.request({ verb: 'set-slots', slots: wish })));
  // The answer may arrive before the new state.
  const isThere = await fleet.until(() => isGranted(fleet.status, wish));
  if (!isThere) throw new UserError('The connection to the supervisor was lost.', 'Check again: `memrl-tui slots`.');
}

function isGranted({ cpu, gpus }: FleetStatus, { slots: cpus, gpus: wanted }: SlotFlags): boolean {
  if (cpus !== undefined && cpu.slots !== cpus) return false;
  if (wanted === undefined) return true;
  const indexes = wanted === 'none' ? [] : wanted;
  return String(gpus.map(({ index }) => index)) === String(indexes);
}

/** `memrl-tui drain GPU…`: the GPUs take no new runs until `--undo`. Runs on them stay. */
export async function drain(words: readonly string[], options: CommonOptions & { undo?: boolean }): Promise<number> {
  const gpus = gpuList(
    'drain',
    words.flatMap((word) => word.split(',')),
  );
  return withFleet(options, async (fleet) => {
    const drained = options.undo !== true;
    const message = promised(await fleet.request({ verb: 'drain', gpus, drained }));
    const isSeen = () => fleet.status.gpus.every((gpu) => !gpus.includes(gpu.index) || gpu.drained === drained);
    await fleet.until(isSeen);
    if (options.json === true) printAnswer('drain', { message, ...slotsStatus(fleet.status) });
    else print([message]);
    return 0;
  });
}
