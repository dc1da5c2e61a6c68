import { cleanText } from '../../text/display-text.js';
import type { Pressed } from '../keys/key-context.js';
import type { MenuState, UiState } from '../state/ui-state.js';
import { fit, span } from '../surface/span.js';
import { menuDialog, unfiltered } from './menu-dialog.js';

/** `keys`: parameters that can be on the axes of the heatmap. */
declare module '../state/ui-state.js' {
  interface Dialogs {
    readonly axes: { readonly keys: readonly string[] } & MenuState;
  }
}

const most = 32;

/** Chooses which parameters are on the axes of the heatmap. Stays open so that both can be chosen. */
export const axes = menuDialog<'axes', string>({
  title: 'axes of the heatmap',
  choices: (_, { keys: items }) => ({ items, textOf: (key) => key }),
  own: [
    ['Enter', 'across'],
    ['Space', 'down'],
  ],
  usage: 'Enter: across · Space: down · type part of a name to find it · Esc: close.',
  keys: {
    enter: (key, { ui, dialog, choices }) => withAxis({ ...ui, dialog: unfiltered(dialog, choices) }, key, 'across'),
    space: (key, { ui, dialog, choices }) => withAxis({ ...ui, dialog: unfiltered(dialog, choices) }, key, 'down'),
  },
  lineOf: ({ items, ui }) => {
    const now = ui.compare.axes;
    const width = Math.min(most, Math.max(16, ...items.map(({ length }) => length)));
    const place = (key: string): string => (key === now?.across ? 'across →' : key === now?.down ? 'down ↓' : '');
    return (key) => [span(` ${fit(cleanText(key), width)} `), span(fit(place(key), 9), 'accent')];
  },
});

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
