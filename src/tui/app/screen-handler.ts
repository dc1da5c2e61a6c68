import { gpuName } from '../../base/ids.js';
import type { Command, ScreenCommand } from '../state/command.js';
import type { RunSummary } from '../state/port.js';
import { refusing } from './beside-list-handler.js';
import { drainGpu } from '../screens/gpus/machine-handler.js';
import { select } from './move-handler.js';
import { type Handler, type Pressed, refuse, type KeyContext } from './key-context.js';
import type { UiState } from '../state/ui-state.js';

export const handleScreen: Record<ScreenCommand, Handler> = {
  gpus: showGpus,
  sweep: (ui) =>
    ui.screen.kind === 'sweep'
      ? refuse(ui, 'This is the sweep; Esc goes back.')
      : { ui: { ...ui, screen: { kind: 'sweep', top: 0 } } },
  table: showTable,
  help: (ui) => ({ ui: { ...ui, dialog: { kind: 'help', top: 0, typed: '' } } }),
};

function showGpus(ui: UiState): Pressed {
  if (ui.screen.kind === 'gpus') return refuse(ui, 'These are the GPUs; Esc goes back.');
  return { ui: { ...ui, screen: { kind: 'gpus', index: 0 } } };
}

/** The selection of the list is not seen there: what would act on it is refused. */
export const handleInGpus: Partial<Record<Command, Handler>> = {
  ...refusing(() => 'Go to a run first: Enter goes to the first one here.'),
  fold: (ui) => refuse(ui, 'There is nothing to fold here; Esc goes back to the list.'),
  unfold: (ui) => refuse(ui, 'There is nothing to unfold here; Esc goes back to the list.'),
  open: openRunThere,
  drain: drainGpu,
};

/** From a GPU, or the CPU, to the first run on it. */
function openRunThere(ui: UiState, at: KeyContext): Pressed {
  const gpu = ui.screen.kind === 'gpus' ? at.status.gpus[ui.screen.index] : undefined;
  const where = gpu === undefined ? 'the CPU' : `GPU ${gpuName(gpu.index)}`;
  const isThere = (run: RunSummary): boolean =>
    gpu === undefined ? run.slot?.startsWith('cpu') === true : gpu.runs.includes(run.id);
  const first = at.runs.find(isThere);
  if (first === undefined) return refuse(ui, `No run of this list is on ${where}.`);
  const index = at.rows.findIndex((node) => node.kind === 'run' && node.run.id === first.id);
  if (index < 0) return refuse(ui, `${first.name} is there, but its group is folded or the filter hides it.`);
  const { ui: selected } = select(ui, index, at);
  return { ui: { ...selected, screen: { kind: 'jobs' } } };
}

function showTable(ui: UiState, at: KeyContext): Pressed {
  if (at.table === undefined) return refuse(ui, 'There is no summary table for this sweep.');
  return { ui: { ...ui, dialog: { kind: 'table', top: 0, left: 0 } } };
}
