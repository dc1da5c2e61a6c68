import { type Obey, refuse } from './situation.js';

/** One slot more or fewer for runs on the CPU. */
export const moreSlots: Obey = (ui, { status }) => {
  if (status.gpus.length > 0 && status.cpu.slots === 0) return refuse(ui, onGpus);
  return { ui, order: { type: 'more-slots', by: 1 } };
};

export const fewerSlots: Obey = (ui, { status }) => {
  if (status.gpus.length > 0 && status.cpu.slots === 0) return refuse(ui, onGpus);
  if (status.cpu.slots === 0) return refuse(ui, 'There are no slots left to take away; + gives one.');
  return { ui, order: { type: 'more-slots', by: -1 } };
};

const onGpus = 'Runs go to GPUs here, not to slots; d shows the GPUs, and D there drains one.';

/** Drains the GPU that is selected on the screen of GPUs, or fills it again. */
export const drainGpu: Obey = (ui, { status }) => {
  if (status.gpus.length === 0) return refuse(ui, 'There are no GPUs here to drain.');
  if (ui.screen.kind !== 'gpus') return refuse(ui, 'Choose a GPU on the GPU screen first: d.');
  const gpu = status.gpus[ui.screen.index];
  if (gpu === undefined) return refuse(ui, 'The CPU is not drained: - takes one of its slots away, + gives one back.');
  return { ui, order: { type: 'drain', gpus: [gpu.index], drained: !gpu.drained } };
};
