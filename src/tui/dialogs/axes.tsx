import { cleanText } from '../../text/display-text.js';
import type { KeyContext, Pressed } from '../keys/key-context.js';
import { useModel } from '../model/use-model.js';
import type { UiState } from '../state/ui-state.js';
import { Menu } from '../widgets/menu.js';
import { fit, span } from '../surface/span.js';
import type { DialogModule, DialogOf, DialogProps } from './dialog-module.js';
import { chosenOf, type Choices, matchesOf, menuHints, pressInMenu, refuseNothing, unfiltered } from './menu-keys.js';

/** Chooses which parameters are on the axes of the heatmap. Stays open so that both can be chosen. */
export const axes: DialogModule<'axes'> = {
  press,
  hints: (dialog) => menuHints(dialog, ['Enter', 'across'], ['Space', 'down']),
  Dialog: AxesDialog,
};

function choicesOf(keys: readonly string[]): Choices<string> {
  return { items: keys, textOf: (key) => key };
}

function press(ui: UiState, dialog: DialogOf<'axes'>, key: string, at: KeyContext): Pressed {
  const choices = choicesOf(dialog.keys);
  if (key !== 'enter' && key !== 'space') return pressInMenu(ui, dialog, key, { choices, at, usage });
  const chosen = chosenOf(choices, dialog);
  if (chosen === undefined) return refuseNothing(ui, dialog);
  return withAxis({ ...ui, dialog: unfiltered(dialog, choices) }, chosen, key === 'enter' ? 'across' : 'down');
}

const usage = 'Enter: across · Space: down · type part of a name to find it · Esc: close.';

/** Puts a parameter on an axis. One that is on the other axis swaps places; one that is already `down` is removed. */
function withAxis(ui: UiState, chosen: string, place: 'across' | 'down'): Pressed {
  const now = ui.compare.axes ?? { across: chosen, down: null };
  const chosenAxes =
    place === 'across'
      ? { across: chosen, down: now.down === chosen ? now.across : now.down }
      : now.across === chosen
        ? { across: now.down ?? chosen, down: now.down === null ? null : chosen }
        : { across: now.across, down: now.down === chosen ? null : chosen };
  return { ui: { ...ui, compare: { ...ui.compare, axes: chosenAxes } } };
}

const most = 32;

/** The parameters, each with its axis. */
function AxesDialog({ dialog, size }: DialogProps<'axes'>) {
  const now = useModel((model) => model.ui.compare.axes);
  const choices = choicesOf(dialog.keys);
  const width = Math.min(most, Math.max(16, ...choices.items.map(({ length }) => length)));
  const place = (key: string): string => (key === now?.across ? 'across →' : key === now?.down ? 'down ↓' : '');
  return (
    <Menu
      title="axes of the heatmap"
      screen={size}
      menu={dialog}
      items={choices.items}
      matches={matchesOf(choices, dialog)}
      line={(key) => [span(` ${fit(cleanText(key), width)} `), span(fit(place(key), 9), 'accent')]}
    />
  );
}
