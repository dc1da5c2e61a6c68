import { gpuName } from '../../../base/ids.js';
import { type KeyContext, type Movement, type Pressed, refuse } from '../../keys/key-context.js';
import { enterKey, type KeyRow, type KeyTable, movementRows, placeAfter } from '../../keys/key-row.js';
import type { FleetStatus, RunSummary } from '../../state/port.js';
import type { UiState } from '../../state/ui-state.js';
import { select } from '../jobs/jobs.js';
import { noFiles, type ScreenData, type ScreenEntry } from '../screen.js';
import { type GpuUse, shownNodes } from './gpu-memory.js';

declare module '../../state/ui-state.js' {
  interface Screens {
    readonly gpus: { readonly index: number };
  }
}
declare module '../../state/command.js' {
  interface Commands {
    readonly gpus: 'gpus' | 'drain';
  }
}

/** The key that opens the GPU screen. */
const gpuOpener: KeyRow = {
  ...{ command: 'gpus', keys: ['d'], group: 'window', help: 'the GPUs: gauges, runs, foreign processes' },
  short: ({ ui, status }) => (ui.screen.kind === 'jobs' && status.gpus.length > 0 ? 'GPUs' : null),
  act: (ui) =>
    ui.screen.kind === 'gpus'
      ? refuse(ui, 'These are the GPUs; Esc goes back.')
      : { ui: { ...ui, screen: { kind: 'gpus', index: 0 } } },
};

/** Keys of the GPU screen. The selection of the list is not visible there, so keys that would act on it are refused. */
const gpuKeys: KeyTable = {
  rows: [
    ...movementRows(choose, 'choose'),
    {
      ...{ command: 'open', ...enterKey, group: 'move', short: 'first run', worth: 6, act: goToRun },
      help: 'go to the first run on it',
    },
    {
      ...{ command: 'drain', keys: ['D'], group: 'runs', short: 'drain', worth: 5, act: drain },
      help: 'drain the GPU: no new runs start on it; again: undrain it',
    },
  ],
  refusal: ({ command }) =>
    command === 'fold' || command === 'unfold'
      ? 'There is nothing to fold here; Esc goes back to the list.'
      : 'Go to a run first: Enter goes to the first one here.',
};

/** The GPUs of this machine, or the nodes of a cluster. */
export const gpus: ScreenEntry<'gpus', GpuUse> = {
  ...{ name: 'GPUs', keys: gpuKeys, opener: gpuOpener, data: gpuData },
  component: () => import('./gpu-screen.js').then(({ GpuScreen }) => GpuScreen),
};

/** Time between two samples, in ms, and the number of samples kept: ten minutes' worth. */
const PERIOD_MS = 5000;
const KEPT = 120;

/** The utilization of the GPUs over the last minutes, collected here because the supervisor sends only the present one. */
function gpuData(): ScreenData<'gpus', GpuUse> {
  const samples = new Map<number, (number | null)[]>();
  let heardAt = -Infinity;
  const hear = ({ gpus }: FleetStatus, now: number): void => {
    if (gpus.length === 0 || now - heardAt < PERIOD_MS) return;
    heardAt = now;
    for (const { index, utilization } of gpus)
      samples.set(index, [...(samples.get(index) ?? []), utilization].slice(-KEPT));
  };
  const use: GpuUse = (index) => samples.get(index) ?? [];
  return {
    wanted: () => noFiles,
    read: () => use,
    context: ({ body }) => ({ page: Math.max(1, body.height - 1) }),
    hear: ({ status }, now) => hear(status, now),
  };
}

/** Moves the cursor over the nodes of a cluster, or the GPUs; the CPU has the row after the last GPU. */
function choose(ui: UiState, movement: Movement, at: KeyContext): Pressed {
  const { screen } = ui;
  if (screen.kind !== 'gpus') return { ui };
  const length = shownNodes(at.status, at.runs).length || at.status.gpus.length + 1;
  const index = placeAfter(screen.index, movement, { length, page: at.page });
  return { ui: { ...ui, screen: { ...screen, index } } };
}

/** Goes to the first run on the chosen node, on the chosen GPU or on the CPU. */
function goToRun(ui: UiState, at: KeyContext): Pressed {
  const index = ui.screen.kind === 'gpus' ? ui.screen.index : 0;
  const nodes = shownNodes(at.status, at.runs);
  const node = nodes[Math.min(index, nodes.length - 1)];
  const gpu = at.status.gpus[index];
  const where = node === undefined ? (gpu === undefined ? 'the CPU' : `GPU ${gpuName(gpu.index)}`) : node.name;
  const isThere = (run: RunSummary): boolean =>
    gpu === undefined ? run.slot?.startsWith('cpu ') === true : gpu.runs.includes(run.id);
  const first = node === undefined ? at.runs.find(isThere) : node.runs[0];
  if (first === undefined) return refuse(ui, `No run of this list is on ${where}.`);
  const place = at.rows.findIndex((row) => row.kind === 'run' && row.run.id === first.id);
  if (place < 0) return refuse(ui, `${first.name} is there, but its group is folded or the filter hides it.`);
  const { ui: selected } = select(ui, place, at);
  return { ui: { ...selected, screen: { kind: 'jobs' } } };
}

/** Drains the GPU under the cursor, or makes it available again. */
function drain(ui: UiState, { status, runs, keyOf }: KeyContext): Pressed {
  if (shownNodes(status, runs).length > 0)
    return refuse(ui, 'Slurm drains nodes: `scontrol update nodename=… state=drain`.');
  if (status.gpus.length === 0) return refuse(ui, 'There are no GPUs here to drain.');
  const gpu = ui.screen.kind === 'gpus' ? status.gpus[ui.screen.index] : undefined;
  if (gpu === undefined) {
    const [fewer, more] = [keyOf('fewer-slots'), keyOf('more-slots')];
    return refuse(ui, `The CPU cannot be drained: ${fewer} removes one of its slots, ${more} adds one.`);
  }
  return { ui, order: { type: 'drain', gpus: [gpu.index], drained: !gpu.drained } };
}
