import { cleanText } from '../../text/display-text.js';
import { textWidth } from '../../text/display-width.js';
import { narrowNumber } from '../../text/numbers.js';
import type { KeyContext, Pressed } from '../keys/key-context.js';
import { useModel } from '../model/use-model.js';
import { selectedRuns } from '../model/window-model.js';
import type { RunSummary } from '../state/port.js';
import type { UiState } from '../state/ui-state.js';
import { dialogFrame } from '../widgets/dialog-size.js';
import { Menu } from '../widgets/menu.js';
import { fit, fitRight, span } from '../surface/span.js';
import { closedDialog, type DialogModule, type DialogOf, type DialogProps } from './dialog-module.js';
import { chosenOf, type Choices, matchesOf, menuHints, pressInMenu, refuseNothing } from './menu-keys.js';

/** Chooses the metric of the list and of the first chart. */
export const metrics: DialogModule<'metrics'> = {
  press,
  hints: (dialog) => menuHints(dialog, ['Enter', 'choose']),
  Dialog: MetricsDialog,
};

function choicesOf(keys: readonly string[]): Choices<string> {
  return { items: keys, textOf: (key) => key };
}

function press(ui: UiState, dialog: DialogOf<'metrics'>, key: string, at: KeyContext): Pressed {
  const choices = choicesOf(at.metrics);
  if (key !== 'enter') return pressInMenu(ui, dialog, key, { choices, at, usage });
  const metric = chosenOf(choices, dialog);
  return metric === undefined ? refuseNothing(ui, dialog) : { ui: { ...closedDialog(ui), metric } };
}

const usage = 'Choose with ↑ ↓ and Enter, or type part of the name; Esc keeps the metric.';

/** The metrics, each with the mean of its last values in the selection. */
function MetricsDialog({ dialog, size }: DialogProps<'metrics'>) {
  const keys = useModel((model) => model.metrics);
  const node = useModel((model) => model.rows[model.index]);
  const runs = selectedRuns(node);
  const width = Math.max(12, Math.min(size.width - dialogFrame - besideName, Math.max(...keys.map(textWidth))));
  const choices = choicesOf(keys);
  return (
    <Menu
      title="metric"
      screen={size}
      menu={dialog}
      items={choices.items}
      matches={matchesOf(choices, dialog)}
      line={(key) => [span(` ${fit(cleanText(key), width)} `), span(fitRight(meanOf(runs, key), 9), 'value')]}
    />
  );
}

/** Columns of a row besides its name. */
const besideName = 11;

/** Mean of the last values, in few columns; empty if there are none. */
function meanOf(runs: readonly RunSummary[], key: string): string {
  const values = runs.map(({ metrics: last }) => last[key]).filter((value) => typeof value === 'number');
  return values.length === 0 ? '' : narrowNumber(values.reduce((sum, value) => sum + value, 0) / values.length);
}
