import { cleanText } from '../../text/display-text.js';
import { refuse } from '../keys/key-context.js';
import { type SweepChoice, sweepTitle } from '../model/tally.js';
import { menuAt, type MenuState } from '../state/ui-state.js';
import { fit, span } from '../surface/span.js';
import { countsLine } from '../widgets/line-parts.js';
import { dialogFrame, nameWidth } from '../widgets/dialog-box.js';
import { closedDialog } from './dialog-module.js';
import { menuDialog } from './menu-dialog.js';

declare module '../state/ui-state.js' {
  interface Dialogs {
    readonly sweeps: MenuState;
  }
}

/** Columns of a row besides its name. */
const besideName = 24;

/** Chooses another sweep of the runs directory, or all of them. Each is shown with its number of runs by state. */
export const sweeps = menuDialog<'sweeps', SweepChoice>({
  title: 'sweep',
  open: (ui, at) => {
    const choices = at.sweepChoices?.() ?? [];
    if (choices.length < 2) return refuse(ui, 'There is only one sweep in this runs directory.');
    const index = choices.findIndex(({ sweep }) => sweep === ui.sweep);
    return { ui: { ...ui, dialog: { kind: 'sweeps', ...menuAt(index) } } };
  },
  choices: (at) => ({ items: at.sweepChoices?.() ?? [], textOf: ({ sweep }) => sweepTitle(sweep) }),
  own: [['Enter', 'open']],
  usage: 'Choose with ↑ ↓ and Enter, or type part of the name; Esc keeps the sweep.',
  keys: { enter: ({ sweep }, { ui }) => ({ ui: { ...closedDialog(ui), sweep } }) },
  lineOf: ({ items, width: screen }) => {
    const names = items.map(({ sweep }) => sweepTitle(sweep));
    const width = nameWidth(names, screen - dialogFrame - besideName);
    return ({ sweep, tally }) => [span(` ${fit(cleanText(sweepTitle(sweep)), width)}  `), ...countsLine(tally)];
  },
});
