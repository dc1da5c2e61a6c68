import { isOwnOfLogger } from '../../contract/metric-names.js';
import { cleanText } from '../../text/display-text.js';
import { textWidth } from '../../text/display-width.js';
import { narrowNumber } from '../../text/numbers.js';
import { type KeyContext, refuse } from '../keys/key-context.js';
import { selectedRuns } from '../model/window-model.js';
import { menuAt, type MenuState } from '../state/ui-state.js';
import type { RunSummary } from '../state/port.js';
import { fit, fitRight, span } from '../surface/span.js';
import { dialogFrame } from '../widgets/dialog-box.js';
import { closedDialog } from './dialog-module.js';
import { menuDialog } from './menu-dialog.js';

declare module '../state/ui-state.js' {
  interface Dialogs {
    readonly metrics: MenuState;
  }
}

/** Columns of a row besides its name. */
const besideName = 11;

/** Chooses the metric of the list and of the first chart. Each is shown with the mean of its last values in the selection. */
export const metrics = menuDialog<'metrics', string>({
  title: 'metric',
  open: (ui, at) =>
    at.metrics.length === 0
      ? refuse(ui, 'No run has written a metric yet.')
      : { ui: { ...ui, dialog: { kind: 'metrics', ...menuAt(itemsOf(at, '').indexOf(at.metric ?? '')) } } },
  choices: (at, { typed }) => ({ items: itemsOf(at, typed), textOf: (key) => key }),
  own: [['Enter', 'choose']],
  usage: 'Choose with ↑ ↓ and Enter, or type part of the name; Esc keeps the metric.',
  keys: { enter: (metric, { ui }) => ({ ui: { ...closedDialog(ui), metric } }) },
  lineOf: ({ items, at, width: screen }) => {
    const runs = selectedRuns(at.rows[at.index]);
    const width = Math.max(12, Math.min(screen - dialogFrame - besideName, Math.max(...items.map(textWidth))));
    return (key) => [span(` ${fit(cleanText(key), width)} `), span(fitRight(meanOf(runs, key), 9), 'value')];
  },
});

/** The metrics; those of the machine and of loggers come last, and only where their name is searched. */
function itemsOf({ metrics: keys, metric }: Pick<KeyContext, 'metrics' | 'metric'>, typed: string): readonly string[] {
  const shown = keys.filter((key) => key === metric || !isOwnOfLogger(key));
  return typed === '' && shown.length > 0 ? shown : [...new Set([...shown, ...keys])];
}

/** Mean of the last values, in few columns; empty if there are none. */
function meanOf(runs: readonly RunSummary[], key: string): string {
  const values = runs.map(({ metrics: last }) => last[key]).filter((value) => typeof value === 'number');
  return values.length === 0 ? '' : narrowNumber(values.reduce((sum, value) => sum + value, 0) / values.length);
}
