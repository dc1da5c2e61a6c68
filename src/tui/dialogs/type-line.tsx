import { Box } from 'ink';
import { orderOf, refusalOf } from '../../protocol/run-verbs.js';
import { type KeyContext, type Pressed, refuse } from '../keys/key-context.js';
import { refusalWithKeys, targetOf } from '../keys/run-verb-handler.js';
import { useModel } from '../model/use-model.js';
import { type EditedLine, editLine, lineOf, type Recall, recalled, remembered } from '../state/line-editor.js';
import type { RunId } from '../state/port.js';
import type { DialogOf, UiState } from '../state/ui-state.js';
import { Canvas } from '../surface/ink-window.js';
import { type Line, span } from '../surface/span.js';
import { DialogBox, dialogFrame } from '../widgets/dialog-box.js';
import { lineWithCursor } from '../widgets/prompt.js';
import { logSection } from '../widgets/log/log-pane.js';
import { Row } from '../widgets/text.js';
import { closedDialog, type DialogModule, type DialogProps } from './dialog-module.js';

/** A line for runs while it is typed. `what`: the runs, in words; `typed`: earlier lines, the latest last. */
type TypeState = {
  readonly ids: readonly RunId[];
  readonly what: string;
  readonly line: EditedLine;
  readonly typed: readonly string[];
  readonly recall: Recall | null;
};
type TypeDialog = DialogOf<'type'>;

declare module '../state/ui-state.js' {
  interface Dialogs {
    readonly type: TypeState;
  }
}
declare module '../state/command.js' {
  interface Commands {
    readonly type: 'type';
  }
}

/** Types lines into runs, one after another, with the end of the selected run's log above. */
export const typeLine: DialogModule<'type'> = {
  open,
  press,
  hints: () => [
    ['Enter', 'type the line'],
    ['↑↓', 'earlier lines'],
    ['Ctrl-U', 'clear'],
    ['Esc', 'close'],
  ],
  Dialog: TypeBox,
};

function open(ui: UiState, at: KeyContext, key: string): Pressed {
  if (at.status.readOnly !== undefined) return refuse(ui, at.status.readOnly);
  const node = at.rows[at.index];
  if (ui.marks.size === 0 && node?.kind !== 'run') return refuse(ui, 'Select a run, or mark some, to type into.');
  const target = targetOf('type', key, ui, at);
  if (target.kind === 'none') return refuse(ui, target.why);
  const [run] = target.runs;
  const refusal = refusalOf(orderOf('type'), run!);
  if (refusal !== null) {
    const fix = refusal.fix === undefined ? '' : ` ${refusal.fix}`;
    return refuse(ui, `${run!.name} ${refusalWithKeys(refusal, run!, ui.keys, at.now)}.${fix}`);
  }
  const ids = target.runs.map(({ id }) => id);
  const dialog: TypeDialog = { kind: 'type', ids, what: target.what, line: lineOf(''), typed: [], recall: null };
  return { ui: { ...ui, dialog } };
}

function press(ui: UiState, dialog: TypeDialog, key: string): Pressed {
  switch (key) {
    case 'escape':
      return { ui: closedDialog(ui) };
    case 'enter':
      return enter(ui, dialog);
    case 'up':
      return earlier(ui, dialog, -1);
    case 'down':
      return earlier(ui, dialog, 1);
    default: {
      const line = editLine(dialog.line, key);
      if (line === null) return refuse(ui, `${key} does nothing here; Enter types the line, Esc closes.`);
      return { ui: { ...ui, dialog: { ...dialog, line, recall: null } } };
    }
  }
}

/** Types the line, which may be empty, and stays open for the next. */
function enter(ui: UiState, dialog: TypeDialog): Pressed {
  const { ids, what, line, typed } = dialog;
  const next = { ...dialog, line: lineOf(''), typed: remembered(typed, line.text), recall: null };
  return { ui: { ...ui, dialog: next }, order: { type: 'type', ids, what, text: line.text } };
}

function earlier(ui: UiState, dialog: TypeDialog, step: -1 | 1): Pressed {
  const entry = recalled(dialog.typed, dialog.line, dialog.recall, step);
  if (entry === null) return refuse(ui, step < 0 ? 'No earlier line.' : 'No later line.');
  return { ui: { ...ui, dialog: { ...dialog, ...entry } } };
}

/** Most rows of the log, and those of the screen that stay visible around the box. */
const mostRows = 20;
const around = 7;
const sign = '› ';

function TypeBox({ dialog, size }: DialogProps<'type'>) {
  const log = useModel(({ detail }) => detail.log);
  const note = useModel(({ ui }) => ui.note);
  const width = Math.max(1, size.width - dialogFrame);
  const rows = Math.max(1, Math.min(mostRows, size.height - around));
  const draw = () => atBottom(logSection(log, { offset: 0, wraps: true }, width, rows + 1).slice(1));
  const problem = note !== null && note.tone !== 'dim' && note.tone !== 'good' ? note.text : null;
  return (
    <DialogBox
      title={problem ?? `type into ${dialog.what}`}
      screen={size}
      width={width}
      height={rows + 1}
      top={Math.max(0, size.height - rows - 5)}
      border={problem === null ? 'dim' : 'warn'}
    >
      <Canvas {...{ width, height: rows, draw }} flexShrink={0} />
      <Box height={1} flexShrink={0}>
        <Row line={[span(sign, 'accent'), ...lineWithCursor(dialog.line, width - sign.length)]} />
      </Box>
    </DialogBox>
  );
}

/** The written lines below the empty ones, so that the newest is next to the line being typed, as in a terminal. */
function atBottom(lines: readonly Line[]): readonly Line[] {
  const written = lines.filter((line) => line.length > 0);
  return [...Array.from({ length: lines.length - written.length }, (): Line => []), ...written];
}
