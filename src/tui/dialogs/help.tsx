import { type KeyContext, type Pressed, refuse } from '../keys/key-context.js';
import { useModel } from '../model/use-model.js';
import { editLine, lineOf } from '../state/line-editor.js';
import type { UiState } from '../state/ui-state.js';
import { DialogBox } from '../widgets/dialog-box.js';
import { dialogFrame, dialogWidth } from '../widgets/dialog-size.js';
import type { KeyHint } from '../widgets/key-hints.js';
import { ScrollText } from '../widgets/scroll-text.js';
import { lineWidth } from '../surface/span.js';
import { Text } from '../widgets/text.js';
import { closedDialog, type DialogModule, type DialogOf, type DialogProps } from './dialog-module.js';
import { helpLines } from './help-lines.js';
import { scrolledBy } from './text-keys.js';

/** Shows all keys by topic. Typing searches by key or by words of the description. */
export const help: DialogModule<'help'> = { press, hints, Dialog: HelpDialog };

function hints({ typed }: DialogOf<'help'>): readonly KeyHint[] {
  return [
    ['↑↓', 'scroll'],
    ['type', 'to find'],
    ['Esc', typed === '' ? 'close' : 'show all'],
  ];
}

function press(ui: UiState, dialog: DialogOf<'help'>, key: string, at: KeyContext): Pressed {
  if (closes(key, dialog)) return { ui: closedDialog(ui) };
  const length = helpLines(ui, dialog.typed, at.width - dialogFrame).length;
  const scrolled = [...key].length === 1 ? null : scrolledBy(ui, dialog, key, { at, length });
  return scrolled ?? typeKey(ui, dialog, key);
}

/** Whether a key closes the help: the key that opened it, unless it is typed as text. */
function closes(key: string, { typed }: DialogOf<'help'>): boolean {
  return key === 'enter' || (typed === '' && (key === 'escape' || key === '?'));
}

function typeKey(ui: UiState, dialog: DialogOf<'help'>, key: string): Pressed {
  const typed = key === 'escape' ? '' : editLine(lineOf(dialog.typed), key)?.text.trimStart();
  if (typed === undefined || typed.length > longest) return refuse(ui, 'Type to find a key; Esc closes this.');
  return { ui: { ...ui, dialog: { ...dialog, typed, top: 0 } } };
}

const longest = 40;

function HelpDialog({ dialog, size }: DialogProps<'help'>) {
  const ui = useModel((model) => model.ui);
  const room = size.width - dialogFrame;
  const all = helpLines(ui, '', room);
  const lines = dialog.typed === '' ? all : helpLines(ui, dialog.typed, room);
  // The box has the size of the whole help, so that it does not change while the user types.
  const width = dialogWidth(Math.max(...all.map(lineWidth)), size.width);
  const height = Math.max(1, Math.min(all.length, size.height - 4));
  const top = Math.min(dialog.top, Math.max(0, lines.length - height));
  const below = Math.max(0, lines.length - top - height);
  return (
    <DialogBox title="keys" typed={dialog.typed} screen={size} {...{ width, height, below }}>
      {lines.length === 0 ? (
        <Text tone="warn"> No key does that; Esc shows all.</Text>
      ) : (
        <ScrollText {...{ lines, width, height, top }} />
      )}
    </DialogBox>
  );
}
