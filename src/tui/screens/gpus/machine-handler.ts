import { keyOf } from '../../app/key-map.js';
import { type Handler, refuse } from '../../app/key-context.js';

/** One slot more for runs on the CPU; whether there are GPUs as well makes no difference to them. */
export const moreSlots: Handler = (ui) => ({ ui, order: { type: 'more-slots', by: 1 } });

export const fewerSlots: Handler = (ui, { status }) => {
  if (status.cpu.slots > 0) return { ui, order: { type: 'more-slots', by: -1 } };
  return refuse(ui, `There are no slots left to remove; ${keyOf('more-slots', ui.keys)} adds one.`);
};

/** Drains the GPU that is selected on the screen of GPUs, or fills it again. */
export const drainGpu: Handler = (ui, { status }) => {
  if (status.gpus.length === 0) return refuse(ui, 'There are no GPUs here to drain.');
  if (ui.screen.kind !== 'gpus') return refuse(ui, `Choose a GPU on the GPU screen first: ${keyOf('gpus', ui.keys)}.`);
  const gpu = status.gpus[ui.screen.index];
  if (gpu === undefined) {
    const [fewer, more] = [keyOf('fewer-slots', ui.keys), keyOf('more-slots', ui.keys)];
    return refuse(ui, `The CPU cannot be drained: ${fewer} removes one of its slots, ${more} adds one.`);
  }
  return { ui, order: { type: 'drain', gpus: [gpu.index], drained: !gpu.drained } };
};
