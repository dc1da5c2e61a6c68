import { type KeyContext, type Movement, opens, type Pressed, refuse } from '../../keys/key-context.js';
import type { KeyRow, KeyTable } from '../../keys/key-row.js';
import { movementRows, topAfter } from '../../keys/movement-rows.js';
import type { UiState } from '../../state/ui-state.js';
import { compareSelection } from '../compare/compare-subjects.js';

declare module '../../state/ui-state.js' {
  interface Screens {
    readonly sweep: { readonly top: number };
  }
}
declare module '../../state/command.js' {
  interface Commands {
    readonly sweep: 'sweep';
  }
}

/** The key that opens the sweep screen. */
export const sweepOpener: KeyRow = {
  ...{
    command: 'sweep',
    keys: ['S'],
    group: 'window',
    help: 'the sweep as a whole: groups, results by setting, slow and failed runs',
  },
  short: ({ ui }) => (ui.screen.kind === 'jobs' ? 'sweep' : null),
  act: (ui) =>
    ui.screen.kind === 'sweep'
      ? refuse(ui, 'This is the sweep; Esc goes back.')
      : { ui: { ...ui, screen: { kind: 'sweep', top: 0 } } },
};

/** Keys of the sweep screen. */
export const sweepKeys: KeyTable = {
  rows: [
    ...movementRows(scroll, 'scroll'),
    {
      ...{ command: 'metric', keys: ['m'], group: 'charts', short: 'metric', worth: 4, act: opens('metrics') },
      help: 'choose the metric that stands first',
    },
    {
      ...{ command: 'compare', keys: ['c'], group: 'charts', short: 'compare', worth: 2, act: compareSelection },
      help: 'compare the marked runs or groups',
    },
  ],
  about: () => 'charts',
  refusal: ({ shown }) => `${shown} acts on the list of runs; Esc goes back to it.`,
};

function scroll(ui: UiState, movement: Movement, at: KeyContext): Pressed {
  const { screen } = ui;
  if (screen.kind !== 'sweep') return { ui };
  return { ui: { ...ui, screen: { ...screen, top: topAfter(screen.top, movement, at) } } };
}
