import { promised, withFleet } from '../open-fleet.js';
import type { CommonOptions } from '../options.js';
import { gpuList } from '../slot-options.js';
import { slotsStatus } from '../show/slot-lines.js';
import { print, printAnswer } from '../terminal.js';

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
