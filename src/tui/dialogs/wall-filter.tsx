import { type Pressed, refuse } from '../keys/key-context.js';
import { chooseOnWall } from '../screens/run/keys.js';
import { useModel } from '../model/use-model.js';
import { type EditedLine, editLine } from '../state/line-editor.js';
import type { UiState } from '../state/ui-state.js';
import { Prompt } from '../widgets/prompt.js';
import { span } from '../surface/span.js';
import { closedDialog, type DialogModule, type DialogOf, type DialogProps } from './dialog-module.js';

/** `before`: the previous filter. */
declare module '../state/ui-state.js' {
  interface Dialogs {
    readonly 'wall-filter': { readonly line: EditedLine; readonly before: string };
  }
}

/** Asks for words that the names of shown metrics must contain; the charts follow while the user types. */
export const wallFilter: DialogModule<'wall-filter'> = {
  press,
  hints: () => [
    ['Enter', 'keep'],
    ['Ctrl-U', 'clear'],
    ['Esc', 'cancel'],
  ],
  Dialog: WallFilterPrompt,
};

function press(ui: UiState, dialog: DialogOf<'wall-filter'>, key: string): Pressed {
  if (key === 'escape') return chooseOnWall(closedDialog(ui), { filter: dialog.before });
  if (key === 'enter') return { ui: closedDialog(ui) };
  const line = editLine(dialog.line, key);
  if (line === null) return refuse(ui, `${key} does nothing here; Enter keeps the filter, Esc cancels.`);
  return chooseOnWall({ ...ui, dialog: { ...dialog, line } }, { filter: line.text });
}

function WallFilterPrompt({ dialog: { line }, ...place }: DialogProps<'wall-filter'>) {
  const note = useModel(({ ui }) => ui.note);
  const about = note === null ? span('metrics by name ', 'dim') : span(`${note.text} `, 'warn');
  return <Prompt {...place} line={line} right={[about]} problem={null} />;
}
