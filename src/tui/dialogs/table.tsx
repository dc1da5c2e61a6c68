import { cleanText } from '../../text/display-text.js';
import { textWidth } from '../../text/display-width.js';
import { type KeyContext, type Pressed, refuse } from '../keys/key-context.js';
import { commandFor } from '../screens/key-map.js';
import { useModel } from '../model/use-model.js';
import type { WindowModel } from '../model/window-model.js';
import type { UiState } from '../state/ui-state.js';
import { DialogBox } from '../widgets/dialog-box.js';
import { dialogFrame, dialogWidth } from '../widgets/dialog-size.js';
import type { KeyHint } from '../widgets/key-hints.js';
import { ScrollText } from '../widgets/scroll-text.js';
import { span } from '../surface/span.js';
import { closedDialog, type DialogModule, type DialogOf, type DialogProps } from './dialog-module.js';
import { scrolledBy } from './text-keys.js';

/** The summary table of the sweep. */
export const table: DialogModule<'table'> = { press, hints, Dialog: TableDialog };

/** Columns that ← and → go at once. */
const step = 8;

function hints(_: DialogOf<'table'>, { table: lines, width }: WindowModel): readonly KeyHint[] {
  const isCut = cutOff(lines ?? [], width) > 0;
  return [['↑↓', 'scroll'], ...(isCut ? ([['←→', 'more columns']] as const) : []), ['Esc', 'close']];
}

function press(ui: UiState, dialog: DialogOf<'table'>, key: string, at: KeyContext): Pressed {
  const lines = at.table?.() ?? [];
  const scrolled = scrolledBy(ui, dialog, key, { at, length: lines.length });
  if (scrolled !== null) return scrolled;
  switch (commandFor(key, ui.keys)) {
    case 'fold':
      return sideways(ui, dialog, -step, cutOff(lines, at.width));
    case 'unfold':
      return sideways(ui, dialog, step, cutOff(lines, at.width));
    case 'back':
    case 'open':
    case 'table':
      return { ui: closedDialog(ui) };
    case 'leave':
      return { ui, order: { type: 'leave' } };
    default:
      return refuse(ui, 'Esc closes the table.');
  }
}

function sideways(ui: UiState, dialog: DialogOf<'table'>, by: number, last: number): Pressed {
  const left = Math.max(0, Math.min(last, dialog.left + by));
  if (last === 0) return refuse(ui, 'The whole width of the table is shown.');
  if (left === dialog.left) return refuse(ui, by < 0 ? 'This is the left end.' : 'This is the right end.');
  return { ui: { ...ui, dialog: { ...dialog, left } } };
}

/** Columns of a text that a screen of so many columns has no room for. */
function cutOff(lines: readonly string[], screenWidth: number): number {
  return Math.max(0, widest(lines) - (screenWidth - dialogFrame));
}

function widest(lines: readonly string[]): number {
  return Math.max(0, ...lines.map((line) => textWidth(cleanText(line))));
}

function TableDialog({ dialog, size }: DialogProps<'table'>) {
  const title = useModel((model) => model.title);
  const lines = useModel((model) => model.table) ?? [];
  const width = dialogWidth(Math.max(title.length + 2, widest(lines)), size.width);
  const height = Math.max(1, Math.min(lines.length, size.height - 4));
  const top = Math.min(dialog.top, Math.max(0, lines.length - height));
  const left = Math.min(dialog.left, cutOff(lines, size.width));
  const below = Math.max(0, lines.length - top - height);
  return (
    <DialogBox title={title} screen={size} {...{ width, height, below }}>
      <ScrollText lines={lines.map((line) => [span(cleanText(line))])} {...{ width, height, top, left }} />
    </DialogBox>
  );
}
