import { cleanText } from '../../text/display-text.js';
import { textWidth } from '../../text/display-width.js';
import { type KeyContext, type Pressed, refuse } from '../keys/key-context.js';
import { useModel } from '../model/use-model.js';
import type { UiState } from '../state/ui-state.js';
import type { XChoice } from '../widgets/chart/x-axis.js';
import { Menu } from '../widgets/menu.js';
import { fit, span } from '../surface/span.js';
import { closedDialog, type DialogModule, type DialogOf, type DialogProps } from './dialog-module.js';
import { chosenOf, type Choices, matchesOf, menuHints, pressInMenu, refuseNothing } from './menu-keys.js';

/** Chooses the x axis of the charts. */
export const xAxis: DialogModule<'x-axis'> = {
  press,
  hints: (dialog) => menuHints(dialog, ['Enter', 'choose']),
  Dialog: XAxisDialog,
};

function choicesOf(items: readonly XChoice[]): Choices<XChoice> {
  return { items, textOf: ({ label }) => label };
}

function press(ui: UiState, dialog: DialogOf<'x-axis'>, key: string, at: KeyContext): Pressed {
  const choices = choicesOf(at.xChoices ?? []);
  if (key !== 'enter') return pressInMenu(ui, dialog, key, { choices, at, usage });
  const choice = chosenOf(choices, dialog);
  return choice === undefined ? refuseNothing(ui, dialog) : choose(ui, choice);
}

const usage = 'Choose with ↑ ↓ and Enter, or type part of the name; Esc keeps the axis.';

/** Chooses an axis. Resets zoom and cursor, which are positions on the previous axis. */
function choose(ui: UiState, { key, label, refusal }: XChoice): Pressed {
  if (refusal !== null) return refuse(ui, refusal);
  const chart = { ...ui.chart, xKey: key, zoom: null, cursor: null };
  return { ui: { ...closedDialog(ui), chart, note: { text: `x axis: ${label}.`, tone: 'dim' } } };
}

/** One axis per line; unavailable ones are dim, and give the reason when chosen. */
function XAxisDialog({ dialog, size }: DialogProps<'x-axis'>) {
  const choices = choicesOf(useModel((model) => model.xChoices));
  const width = Math.max(12, ...choices.items.map(({ label }) => textWidth(cleanText(label))));
  const aboutWidth = Math.max(...choices.items.map(({ about }) => about.length)) + 1;
  return (
    <Menu
      title="x axis"
      screen={size}
      menu={dialog}
      items={choices.items}
      matches={matchesOf(choices, dialog)}
      line={(choice) => [
        span(` ${fit(cleanText(choice.label), width)}  `, choice.refusal === null ? 'plain' : 'dim'),
        span(fit(choice.about, aboutWidth), 'dim'),
      ]}
    />
  );
}
