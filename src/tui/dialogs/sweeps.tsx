import { cleanText } from '../../text/display-text.js';
import { type Handler, type KeyContext, type Pressed, refuse } from '../keys/key-context.js';
import { type SweepChoice, sweepTitle } from '../model/sweep-choices.js';
import { useModel } from '../model/use-model.js';
import { menuAt } from '../state/menu-state.js';
import type { UiState } from '../state/ui-state.js';
import { fit, span } from '../surface/span.js';
import { countsLine } from '../widgets/counts-line.js';
import { dialogFrame } from '../widgets/dialog-size.js';
import { Menu } from '../widgets/menu.js';
import { nameWidth } from '../widgets/name-width.js';
import { closedDialog, type DialogModule, type DialogOf, type DialogProps } from './dialog-module.js';
import { chosenOf, type Choices, matchesOf, menuHints, pressInMenu, refuseNothing } from './menu-keys.js';

/** Chooses another sweep of the runs directory, or all of them. */
export const sweeps: DialogModule<'sweeps'> = {
  press,
  hints: (dialog) => menuHints(dialog, ['Enter', 'open']),
  Dialog: SweepsDialog,
};

/** Opens the dialog with the cursor on the current sweep. */
export const openSweeps: Handler = (ui, at) => {
  const choices = at.sweepChoices?.() ?? [];
  if (choices.length < 2) return refuse(ui, 'There is only one sweep in this runs directory.');
  const index = choices.findIndex(({ sweep }) => sweep === ui.sweep);
  return { ui: { ...ui, dialog: { kind: 'sweeps', ...menuAt(index) } } };
};

function choicesOf(items: readonly SweepChoice[]): Choices<SweepChoice> {
  return { items, textOf: ({ sweep }) => sweepTitle(sweep) };
}

function press(ui: UiState, dialog: DialogOf<'sweeps'>, key: string, at: KeyContext): Pressed {
  const choices = choicesOf(at.sweepChoices?.() ?? []);
  if (key !== 'enter') return pressInMenu(ui, dialog, key, { choices, at, usage });
  const choice = chosenOf(choices, dialog);
  return choice === undefined ? refuseNothing(ui, dialog) : { ui: { ...closedDialog(ui), sweep: choice.sweep } };
}

const usage = 'Choose with ↑ ↓ and Enter, or type part of the name; Esc keeps the sweep.';

/** Columns of a row besides its name. */
const besideName = 24;

/** The sweeps with their number of runs by state. */
function SweepsDialog({ dialog, size }: DialogProps<'sweeps'>) {
  const items = useModel(({ sweepChoices }) => sweepChoices)();
  const choices = choicesOf(items);
  const width = nameWidth(items.map(choices.textOf), size.width - dialogFrame - besideName);
  return (
    <Menu
      title="sweep"
      screen={size}
      menu={dialog}
      items={items}
      matches={matchesOf(choices, dialog)}
      line={(choice) => [span(` ${fit(cleanText(choices.textOf(choice)), width)}  `), ...countsLine(choice.tally)]}
    />
  );
}
