import { type Handler, type KeyContext, type Pressed, refuse } from '../app/key-context.js';
import { type EditedLine, editLine, emptyLine, lineOf, replaceBeforeCursor } from '../state/line-editor.js';
import type { PaletteView } from './palette-entry.js';
import { paletteView } from './palette.js';
import type { PaletteDialog, UiState } from '../state/ui-state.js';

export const openPalette: Handler = (ui) => ({
  ui: { ...ui, dialog: { kind: 'palette', line: emptyLine, index: 0, isRefused: false } },
});

/** One key in the palette. */
export function pressInPalette(ui: UiState, dialog: PaletteDialog, key: string, at: KeyContext): Pressed {
  const view = paletteView(dialog.line, dialog.index, ui, at);
  switch (key) {
    case 'escape':
      return { ui: { ...ui, dialog: { kind: 'none' } } };
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

/** The first row is chosen where Enter takes it: among commands and words, but not in a query. */
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

/** Writes the chosen row out: the name of a command, or the next word of what follows it. */
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
  if (reading.kind === 'ready') return reading.act({ ...ui, dialog: { kind: 'none' } });
  if (reading.kind === 'open' && view.kind === 'commands') return complete(ui, dialog, view, at);
  return { ui: { ...ui, dialog: { ...dialog, isRefused: true } } };
}
