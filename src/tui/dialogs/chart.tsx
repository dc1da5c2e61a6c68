import { type ChartOption, chartOptions, moveCursor } from '../keys/chart-handler.js';
import { distance, isMovement, type KeyContext, type Pressed, refuse } from '../keys/key-context.js';
import { within } from '../keys/key-row.js';
import { useModel } from '../model/use-model.js';
import { commandFor } from '../screens/key-map.js';
import type { UiState } from '../state/ui-state.js';
import { fit, type Line, span } from '../surface/span.js';
import { DialogBox } from '../widgets/dialog-box.js';
import { SelectList } from '../widgets/select-list.js';
import { closedDialog, type DialogModule, type DialogOf, type DialogProps } from './dialog-module.js';

/** `index`: the option under the cursor. */
declare module '../state/ui-state.js' {
  interface Dialogs {
    readonly chart: { readonly index: number };
  }
}

/** Chooses how charts are drawn. Each letter changes one setting, which is applied at once. */
export const chart: DialogModule<'chart'> = {
  open: (ui) => ({ ui: { ...ui, dialog: { kind: 'chart', index: 0 } } }),
  press,
  hints: () => [
    ['Enter', 'change'],
    ['↑↓', 'choose'],
    ['←→', 'cursor of the charts'],
    ['Esc', 'close'],
  ],
  Dialog: ChartDialog,
};

function press(ui: UiState, dialog: DialogOf<'chart'>, key: string, at: KeyContext): Pressed {
  const index = key === 'enter' ? dialog.index : chartOptions.findIndex((option) => option.key === key);
  const option = chartOptions[index];
  if (option !== undefined) return option.act({ ...ui, dialog: { ...dialog, index } }, at, key);
  if (key === 'left' || key === 'right') return moveCursor(ui, key, at);
  if (key === 'escape') return { ui: closedDialog(ui) };
  const command = commandFor(key, ui.keys);
  if (!isMovement(command)) return refuse(ui, 'A letter of the menu changes how charts are drawn; Esc closes it.');
  const next = within(dialog.index + distance(command, at.page), chartOptions.length - 1);
  return { ui: { ...ui, dialog: { ...dialog, index: next } } };
}

const labelWidth = 24;
const width = 46;

/** Drawn in the corner of the list, so that the charts beside it stay visible. */
function ChartDialog({ dialog, size, isSmall }: DialogProps<'chart'>) {
  const ui = useModel((model) => model.ui);
  const height = Math.max(1, Math.min(chartOptions.length, size.height - 4));
  const top = Math.max(0, size.height - height - 2 - (isSmall ? 1 : 2));
  return (
    <DialogBox title="chart" screen={size} width={Math.min(width, size.width - 4)} {...{ height, top }} left={0}>
      <SelectList
        {...{ width, height }}
        count={chartOptions.length}
        index={dialog.index}
        row={(index) => lineOf(chartOptions[index]!, ui)}
        clickKey="enter"
      />
    </DialogBox>
  );
}

function lineOf({ key, label, now }: ChartOption, ui: UiState): Line {
  return [span(` ${key} `, 'key'), span(` ${fit(label, labelWidth)}`), span(now(ui), 'value')];
}
