import { always, type KeyRow, type Short } from '../keys/key-row.js';
import { escapeKey } from '../keys/movement-rows.js';
import { extendSweep } from '../keys/editor-handler.js';
import { type KeyContext, opens, type Pressed, refuse } from '../keys/key-context.js';
import type { UiState } from '../state/ui-state.js';

/** A word that the footer shows only on the list. */
const onList =
  (word: string): Short =>
  ({ ui }) =>
    ui.screen.kind === 'jobs' ? word : null;

/** Keys of every screen that does not use them otherwise. */
export const windowKeys: readonly KeyRow[] = [
  {
    ...{ command: 'palette', keys: [':'], group: 'window', short: onList('command'), worth: 4, act: opens('palette') },
    help: 'command palette: any command, on the selection, the marks or a query',
  },
  {
    ...{ command: 'filter', keys: ['/'], group: 'list', short: onList('filter'), worth: 4, act: opens('filter') },
    help: 'filter runs: name, status:failed, N>=64',
  },
  {
    ...{ command: 'extend', keys: ['e'], group: 'runs', act: extendSweep },
    help: 'extend the sweep: edit its file in $EDITOR and submit what is new',
  },
  {
    ...{ command: 'more-slots', keys: ['+'], group: 'runs', help: 'add a slot', hint: '+ -' },
    short: ({ ui }) => (ui.screen.kind === 'gpus' ? 'slots' : null),
    // The number of CPU slots does not depend on whether there are GPUs.
    act: (ui) => ({ ui, order: { type: 'more-slots', by: 1 } }),
  },
  {
    ...{ command: 'show', keys: ['O'], group: 'window', act: opens('sweeps') },
    short: ({ ui, sweepCount }) => (ui.screen.kind === 'jobs' && sweepCount > 1 ? 'other sweep' : null),
    help: 'open another sweep of this directory, or all of them',
  },
  { command: 'fewer-slots', keys: ['-'], group: 'runs', help: 'remove a slot', act: fewerSlots },
  {
    ...{ command: 'back', ...escapeKey, group: 'window', help: 'go back to the list', worth: always },
    short: 'back',
    act: (ui) => ({ ui: { ...ui, screen: { kind: 'jobs' } } }),
  },
  {
    ...{ command: 'help', keys: ['?'], group: 'window', help: 'show the keys', short: 'help', worth: always },
    act: opens('help'),
  },
  {
    ...{ command: 'repaint', keys: ['ctrl-l'], shown: 'Ctrl-L', group: 'window', help: 'draw the screen again' },
    act: (ui) => ({ ui, order: { type: 'repaint' } }),
  },
  {
    ...{ command: 'suspend', keys: ['ctrl-z'], shown: 'Ctrl-Z', group: 'window' },
    help: 'suspend the window; fg brings it back',
    act: (ui) => ({ ui, order: { type: 'suspend' } }),
  },
  {
    ...{ command: 'leave', keys: ['q', 'ctrl-c'], group: 'window', short: 'detach', worth: always },
    help: 'detach (also Ctrl-C); runs keep running',
    act: (ui) => ({ ui, order: { type: 'leave' } }),
  },
];

function fewerSlots(ui: UiState, { status, keyOf }: KeyContext): Pressed {
  if (status.cpu.slots > 0) return { ui, order: { type: 'more-slots', by: -1 } };
  return refuse(ui, `There are no slots left to remove; ${keyOf('more-slots')} adds one.`);
}
