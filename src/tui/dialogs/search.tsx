import { cleanText } from '../../text/display-text.js';
import { readLogPattern } from '../../logs/log-search.js';
import { type KeyContext, type Pressed, refuse } from '../keys/key-context.js';
import { useModel } from '../model/use-model.js';
import { searchFrom } from '../screens/run/log-handler.js';
import { isOnSamples } from '../screens/run/keys.js';
import { type EditedLine, editLine } from '../state/line-editor.js';
import type { UiState } from '../state/ui-state.js';
import { Prompt } from '../widgets/prompt.js';
import { span } from '../surface/span.js';
import { closedDialog, type DialogModule, type DialogOf, type DialogProps } from './dialog-module.js';

/** `before`: the previous search; `problem`: why Enter was refused. */
type SearchState = { readonly line: EditedLine; readonly before: string; readonly problem: string | null };

declare module '../state/ui-state.js' {
  interface Dialogs {
    readonly search: SearchState;
  }
}

/** Asks for the text to search for in a log. Matches on the screen are highlighted while the user types. */
export const search: DialogModule<'search'> = {
  press,
  hints: () => [
    ['Enter', 'search'],
    ['Ctrl-U', 'clear'],
    ['Esc', 'cancel'],
  ],
  Dialog: SearchPrompt,
};

function press(ui: UiState, dialog: DialogOf<'search'>, key: string, at: KeyContext): Pressed {
  if (key === 'escape') return { ui: { ...closedDialog(ui), log: { ...ui.log, search: dialog.before } } };
  if (key === 'enter') return enter(ui, dialog, at);
  const line = editLine(dialog.line, key);
  if (line === null) return refuse(ui, `${key} does nothing here; Enter searches, Esc cancels.`);
  const isPattern = readLogPattern(line.text).kind === 'pattern';
  const log = isPattern ? { ...ui.log, search: line.text } : ui.log;
  return { ui: { ...ui, log, dialog: { ...dialog, line, problem: null } } };
}

function enter(ui: UiState, dialog: DialogOf<'search'>, at: KeyContext): Pressed {
  const { text } = dialog.line;
  if (text === '') return { ui: { ...closedDialog(ui), log: { ...ui.log, search: '', seek: null } } };
  const read = readLogPattern(text);
  if (read.kind === 'problem') return { ui: { ...ui, dialog: { ...dialog, problem: `${read.problem} ${read.fix}` } } };
  // Samples that match are shown at once.
  const seek = isOnSamples(ui) ? null : searchFrom(ui, at, text);
  return { ui: { ...closedDialog(ui), log: { ...ui.log, search: text, seek } } };
}

function SearchPrompt({ dialog: { line, problem }, ...room }: DialogProps<'search'>) {
  const note = useModel(({ ui }) => ui.note);
  const place = useModel(({ ui }) => (isOnSamples(ui) ? 'in the samples' : 'in the log'));
  const about = note === null ? span(`${place} · regular expression `, 'dim') : span(`${note.text} `, 'warn');
  const wrong = problem === null ? null : [span(` ${cleanText(problem)}`, 'warn')];
  return <Prompt {...room} line={line} right={[about]} problem={wrong} />;
}
