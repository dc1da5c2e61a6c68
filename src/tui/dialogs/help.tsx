import { type Binding, isActing, keyGroups } from '../keys/key-row.js';
import { type KeyContext, type Pressed, refuse } from '../keys/key-context.js';
import { useModel } from '../model/use-model.js';
import { editLine, lineOf } from '../state/line-editor.js';
import type { UiState } from '../state/ui-state.js';
import { DialogBox, dialogFrame, dialogWidth } from '../widgets/dialog-box.js';
import type { KeyHint } from '../widgets/line-parts.js';
import { lineWidth, fit, type Line, span } from '../surface/span.js';
import { Rows, Text } from '../widgets/text.js';
import { closedDialog, type DialogModule, type DialogOf, type DialogProps, scrolledBy } from './dialog-module.js';
import { wrapWithin } from '../../text/wrap.js';
import { keysOn } from '../screens/key-map.js';
import { screens } from '../screens/registry.js';
import { stateLook, statesInOrder, unhealthyGlyph } from '../model/state-look.js';
import type { RunWord } from '../state/port.js';

/** `typed`: the text to search for among the keys. */
declare module '../state/ui-state.js' {
  interface Dialogs {
    readonly help: { readonly top: number; readonly typed: string };
  }
}

/** Shows the keys, those that are used most first. Typing searches by key or by words of the description. */
export const help: DialogModule<'help'> = {
  open: (ui) => ({ ui: { ...ui, dialog: { kind: 'help', top: 0, typed: '' } } }),
  ...{ press, hints, Dialog: HelpDialog },
};

function hints({ typed }: DialogOf<'help'>): readonly KeyHint[] {
  return [
    ['↑↓', 'scroll'],
    ['type', 'to find'],
    ['Esc', typed === '' ? 'close' : 'show all'],
  ];
}

function press(ui: UiState, dialog: DialogOf<'help'>, key: string, at: KeyContext): Pressed {
  if (closes(key, dialog)) return { ui: closedDialog(ui) };
  const length = helpLines(ui, dialog.typed, at.width - dialogFrame, at.status).length;
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
  const status = useModel((model) => model.status);
  const room = size.width - dialogFrame;
  const all = helpLines(ui, '', room, status);
  const lines = dialog.typed === '' ? all : helpLines(ui, dialog.typed, room, status);
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
        <Rows lines={lines.slice(top, top + height)} />
      )}
    </DialogBox>
  );
}

const keyWidth = 9;

/**
 * The keys that are used most and the symbols, which are the first page; then all other keys of the screen by topic, most relevant
 * first. If text is typed, only the matching keys. Lines have at most `width` columns. A window that only looks has no keys that act.
 */
export function helpLines(ui: UiState, typed: string, width: number, status?: KeyContext['status']): Line[] {
  const here = screens[ui.screen.kind].keys.about?.(ui) ?? 'runs';
  const bindings = keysOn(ui.screen.kind, ui.keys).filter(
    (binding) => isFound(binding, typed) && (status?.readOnly === undefined || !isActing(binding.command)),
  );
  const most = typed === '' ? bindings.filter(isMostUsed) : [];
  const rest = bindings.filter((binding) => !most.includes(binding));
  const sections = [here, ...keyGroups.filter((group) => group !== here)].flatMap((group) =>
    section(
      group,
      rest.filter((binding) => binding.group === group),
      width,
    ),
  );
  return typed === '' ? [...section('most used', most, width), ...legend(width), ...sections] : sections.slice(0, -1);
}

/** Least worth of a hint in the footer that puts its key on the first page of the help. */
const leastWorth = 3;

function isMostUsed({ short, worth }: Binding): boolean {
  return short !== undefined && (worth ?? 0) >= leastWorth;
}

function section(title: string, bindings: readonly Binding[], width: number): Line[] {
  return bindings.length === 0 ? [] : [[span(title, 'title')], ...bindings.flatMap((each) => row(each, width)), []];
}

/** Whether a binding matches: by its key, or by words of its description. */
function isFound({ shown, keys, command, help }: Binding, typed: string): boolean {
  const wanted = typed.trim().toLowerCase();
  if (wanted === '') return true;
  if ([...typed.trim()].length === 1) return shown === typed.trim() || keys.includes(typed.trim());
  const text = `${shown} ${command} ${help}`.toLowerCase();
  return wanted.split(/\s+/).every((word) => text.includes(word));
}

function row({ shown, help }: Binding, width: number): Line[] {
  return wrapWithin(help, Math.max(8, width - keyWidth), 4).map((part, index): Line => [
    span(fit(index === 0 ? ` ${shown}` : '', keyWidth), 'key'),
    span(part),
  ]);
}

const signWidth = 12;

/** What else stands before or behind a row. */
const marks = [
  ['•', 'accent', 'its curve is drawn'],
  [unhealthyGlyph, 'bad', 'a problem; F shows it'],
  ['◆', 'accent', 'marked'],
  ['★', 'warn', 'starred'],
] as const;

function legend(width: number): Line[] {
  const perLine = Math.max(1, Math.floor(width / signWidth));
  const lines = Math.ceil(statesInOrder.length / perLine);
  return [
    [span('symbols', 'title')],
    ...Array.from({ length: lines }, (_, at) => signs(statesInOrder.slice(at * perLine, (at + 1) * perLine))),
    ...packed(
      marks.map(([glyph, tone, words]) => [span(` ${glyph} `, tone), span(`${words}  `, 'dim')]),
      width,
    ),
    [],
  ];
}

/** Pieces one behind another, as many as fit on each line. */
function packed(pieces: readonly Line[], width: number): Line[] {
  const lines: Line[] = [];
  for (const piece of pieces) {
    const last = lines.at(-1);
    const fits = last !== undefined && lineWidth([...last, ...piece]) <= width;
    if (fits) lines[lines.length - 1] = [...last, ...piece];
    else lines.push(piece);
  }
  return lines;
}

function signs(states: readonly RunWord[]): Line {
  return states.flatMap((state) => [
    span(` ${stateLook[state].glyph} `, stateLook[state].tone),
    span(fit(state, signWidth - 3), 'dim'),
  ]);
}
