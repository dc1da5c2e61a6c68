import { Box } from 'ink';
import { cleanText } from '../../../text/display-text.js';
import { textWidth } from '../../../text/display-width.js';
import { type KeyContext, type Pressed, refuse } from '../../keys/key-context.js';
import { keyOf } from '../../screens/key-map.js';
import { closedDialog, type DialogModule, type DialogProps, useKeyContext } from '../dialog-module.js';
import { useModel } from '../../model/use-model.js';
import { type EditedLine, editLine, emptyLine, lineOf, replaceBeforeCursor } from '../../state/line-editor.js';
import type { KeyMapping } from '../../state/preferences-port.js';
import type { DialogOf, UiState } from '../../state/ui-state.js';
import { DialogBox, dialogFrame } from '../../widgets/dialog-box.js';
import { firstRowShown, SelectList } from '../../widgets/select-list.js';
import { ends, fit, type Line, span, type Tone } from '../../surface/span.js';
import { Paragraph, Text } from '../../widgets/text.js';
import { TextField } from '../../widgets/prompt.js';
import type { PaletteEntry, PaletteView } from './palette-runs.js';
import { paletteView } from './palette-view.js';

/** `index`: the chosen row; -1: none, so Enter takes the typed text. `isRefused`: Enter was pressed on something that cannot be done. */
type PaletteState = { readonly line: EditedLine; readonly index: number; readonly isRefused: boolean };
type PaletteDialog = DialogOf<'palette'>;

declare module '../../state/ui-state.js' {
  interface Dialogs {
    readonly palette: PaletteState;
  }
}

/** Runs any command by name, on the selection, the marked runs or a query. */
export const palette: DialogModule<'palette'> = {
  open: (ui) => ({ ui: { ...ui, dialog: { kind: 'palette', line: emptyLine, index: 0, isRefused: false } } }),
  press,
  hints: () => [
    ['Enter', 'run'],
    ['Tab', 'complete'],
    ['↑↓', 'choose'],
    ['Esc', 'close'],
  ],
  Dialog: PaletteBox,
};

function press(ui: UiState, dialog: PaletteDialog, key: string, at: KeyContext): Pressed {
  const view = paletteView(dialog.line, dialog.index, ui, at);
  switch (key) {
    case 'escape':
      return { ui: closedDialog(ui) };
    case 'up':
      return chosen(ui, dialog, dialog.index - 1, view);
    case 'down':
      return chosen(ui, dialog, dialog.index + 1, view);
    case 'tab':
      return complete(ui, dialog, view, at);
    case 'enter':
      return enter(ui, dialog, view, at);
    default: {
      const line = editLine(dialog.line, key);
      return line === null ? refuse(ui, `${key} does nothing here.`) : typed(ui, line, at);
    }
  }
}

/** Updates the typed line. Chooses the first row among commands and words, where Enter takes it, but not in a query. */
function typed(ui: UiState, line: EditedLine, at: KeyContext): Pressed {
  const view = paletteView(line, 0, ui, at);
  const index = view.kind === 'commands' || view.entry.words !== null ? 0 : -1;
  return { ui: { ...ui, dialog: { kind: 'palette', line, index, isRefused: false } } };
}

function rowsOf(view: PaletteView): readonly string[] {
  return view.kind === 'commands' ? view.entries.map(({ name }) => name) : view.offer.candidates;
}

function chosen(ui: UiState, dialog: PaletteDialog, index: number, view: PaletteView): Pressed {
  const last = rowsOf(view).length - 1;
  if (last < 0) return refuse(ui, 'There is nothing to choose from.');
  const least = view.kind === 'arguments' && view.entry.words === null ? -1 : 0;
  const next = Math.max(least, Math.min(last, index));
  return { ui: { ...ui, dialog: { ...dialog, index: next, isRefused: false } } };
}

/** Completes the line with the chosen row: the name of a command, or the next word of its arguments. */
function complete(ui: UiState, { line, index }: PaletteDialog, view: PaletteView, at: KeyContext): Pressed {
  const word = rowsOf(view)[Math.max(0, index)];
  if (word === undefined) return refuse(ui, 'No completion.');
  if (view.kind === 'commands') {
    const takes = view.entries[Math.max(0, index)]!.takes !== '';
    return typed(ui, lineOf(takes ? `${word} ` : word), at);
  }
  return typed(ui, replaceBeforeCursor(line, view.offer.from, word), at);
}

function enter(ui: UiState, dialog: PaletteDialog, view: PaletteView, at: KeyContext): Pressed {
  const isInQuery = view.kind === 'arguments' && view.entry.words === null;
  if (isInQuery && dialog.index >= 0) return complete(ui, dialog, view, at);
  const { reading } = view;
  if (reading === null) return refuse(ui, 'There is no such command; Esc closes the palette.');
  if (reading.kind === 'ready') return reading.act(closedDialog(ui));
  if (reading.kind === 'open' && view.kind === 'commands') return complete(ui, dialog, view, at);
  return { ui: { ...ui, dialog: { ...dialog, isRefused: true } } };
}

const widest = 96;
const mostRows = 12;
/** Rows of the prompt, its explanation, and the rule. */
const headRows = 4;

/** The prompt, what Enter would do, and the commands or words to choose from. Keeps its size while the user types. */
function PaletteBox({ dialog, size }: DialogProps<'palette'>) {
  const ui = useModel((model) => model.ui);
  const view = paletteView(dialog.line, dialog.index, ui, useKeyContext());
  const width = Math.min(widest, size.width - dialogFrame);
  const height = Math.max(1, Math.min(mostRows, size.height - 3 - headRows));
  const count = view.kind === 'commands' ? view.entries.length : view.offer.candidates.length;
  const below = Math.max(0, count - firstRowShown(dialog.index, height, count) - height);
  return (
    <DialogBox title="command" screen={size} width={width} height={height + headRows} below={below}>
      <Box flexShrink={0}>
        <Text tone="title">: </Text>
        <TextField line={dialog.line} width={width - 2} />
      </Box>
      <Said view={view} isRefused={dialog.isRefused} width={width} />
      <Text tone="faint">{'─'.repeat(Math.max(0, width))}</Text>
      <SelectList
        {...{ width, height, count }}
        index={dialog.index}
        row={(index) => rowLine(view, index, ui.keys, width)}
        clickKey="enter"
      />
    </DialogBox>
  );
}

type SaidProps = { readonly view: PaletteView; readonly isRefused: boolean; readonly width: number };

/** Always two rows, even if one would suffice. */
function Said({ view: { reading }, isRefused, width }: SaidProps) {
  return (
    <Box height={2} flexShrink={0} paddingLeft={2}>
      <Paragraph tone={toneOf(reading?.kind ?? null, isRefused)} width={width - 2} rows={2}>
        {cleanText(reading?.said ?? 'No such command.')}
      </Paragraph>
    </Box>
  );
}

/** `kind` null: there is no such command. */
function toneOf(kind: 'ready' | 'open' | 'problem' | null, isRefused: boolean): Tone {
  if (kind === null) return 'warn';
  if (kind === 'problem') return isRefused ? 'bad' : 'warn';
  return kind === 'ready' ? 'good' : isRefused ? 'warn' : 'dim';
}

function rowLine(view: PaletteView, index: number, keys: KeyMapping, width: number): Line {
  if (view.kind === 'commands') return entryLine(view.entries[index]!, keys, width);
  return [span(` ${cleanText(view.offer.candidates[index]!)}`)];
}

const nameWidth = 20;

function entryLine({ name, takes, help, command }: PaletteEntry, keys: KeyMapping, width: number): Line {
  const used = 1 + textWidth(name) + (takes === '' ? 0 : 1 + textWidth(takes));
  const about = [
    span(` ${name}`, 'strong'),
    span(takes === '' ? '' : ` ${takes}`, 'faint'),
    span(' '.repeat(Math.max(1, nameWidth - used))),
    span(help, 'dim'),
  ];
  const key = command === null ? '' : keyOf(command, keys);
  return ends(about, [span(` ${fit(key, 6)} `, 'key')], width);
}
