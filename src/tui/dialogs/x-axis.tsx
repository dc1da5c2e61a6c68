import { cleanText } from '../../text/display-text.js';
import { textWidth } from '../../text/display-width.js';
import { type KeyContext, type Pressed, refuse } from '../keys/key-context.js';
import type { XChoice } from '../model/chart-data.js';
import { menuAt, type MenuState, type UiState } from '../state/ui-state.js';
import { fit, span } from '../surface/span.js';
import { closedDialog } from './dialog-module.js';
import { menuDialog } from './menu-dialog.js';

declare module '../state/ui-state.js' {
  interface Dialogs {
    readonly 'x-axis': MenuState;
  }
}

/** Chooses the x axis of the charts. Unavailable ones are dim, and give the reason when chosen. */
export const xAxis = menuDialog<'x-axis', XChoice>({
  title: 'x axis',
  open,
  choices: (at) => ({ items: at.xChoices ?? [], textOf: ({ label }) => label }),
  own: [['Enter', 'choose']],
  usage: 'Choose with ↑ ↓ and Enter, or type part of the name; Esc keeps the axis.',
  keys: { enter: (choice, { ui }) => choose(ui, choice) },
  lineOf: ({ items }) => {
    const width = Math.max(12, ...items.map(({ label }) => textWidth(cleanText(label))));
    const aboutWidth = Math.max(...items.map(({ about }) => about.length)) + 1;
    return ({ label, about, refusal }) => [
      span(` ${fit(cleanText(label), width)}  `, refusal === null ? 'plain' : 'dim'),
      span(fit(about, aboutWidth), 'dim'),
    ];
  },
});

function open(ui: UiState, at: KeyContext): Pressed {
  const choices = at.xChoices ?? [];
  if (at.charts === 0 || choices.length === 0) {
    return refuse(ui, 'There is no chart to choose an axis for; select a run that has started.');
  }
  const index = choices.findIndex(({ key }) => key === ui.chart.xKey);
  return { ui: { ...ui, dialog: { kind: 'x-axis', ...menuAt(index) } } };
}

/** Chooses an axis. Resets zoom and cursor, which are positions on the previous axis. */
function choose(ui: UiState, { key, label, refusal }: XChoice): Pressed {
  if (refusal !== null) return refuse(ui, refusal);
  const chart = { ...ui.chart, xKey: key, zoom: null, cursor: null };
  return { ui: { ...closedDialog(ui), chart, note: { text: `x axis: ${label}.`, tone: 'dim' } } };
}
