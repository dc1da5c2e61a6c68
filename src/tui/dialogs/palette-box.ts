import { cleanText } from '../../text/display-text.js';
import { textWidth } from '../../text/display-width.js';
import { keyOf } from '../app/key-map.js';
import type { PaletteEntry } from './palette-entry.js';
import type { PaletteView } from './palette-entry.js';
import { scrollTo } from '../widgets/scroll.js';
import type { PaletteDialog, UiState } from '../state/ui-state.js';
import { lineWithCursor } from '../widgets/line-with-cursor.js';
import type { Box } from './box.js';
import { dialogFrame } from '../widgets/dialog-size.js';
import { ends, fit, fitLine, type Line, onBackground, span } from '../widgets/span.js';
import { wrapWithin } from '../../text/wrap.js';

const widest = 96;
const mostRows = 12;

/** The prompt, what Enter would do, and the commands or words to choose from. `width`, `rows`: of the screen below it. */
export function paletteBox(dialog: PaletteDialog, view: PaletteView, ui: UiState, room: Room): Box {
  const inner = Math.min(widest, room.width - dialogFrame);
  const said = saidLines(view, dialog.isRefused, inner);
  const all = view.kind === 'commands' ? view.entries.length : view.offer.candidates.length;
  // The box keeps its height while one types, or it would jump.
  const rows = Math.max(1, Math.min(mostRows, room.rows - 4 - said.length));
  const top = scrollTo(Math.max(0, dialog.index), 0, Math.min(rows, all), all);
  const shown = Array.from({ length: rows }, (_, row): Line => rowLine(view, top + row, { dialog, ui, inner }));
  const prompt: Line = [span(': ', 'title'), ...lineWithCursor(dialog.line, inner - 2)];
  return { title: 'command', lines: [prompt, ...said, rule(inner), ...shown], below: Math.max(0, all - top - rows) };
}

type Room = { readonly width: number; readonly rows: number };
type Look = { readonly dialog: PaletteDialog; readonly ui: UiState; readonly inner: number };

/** Two lines, whether one would do or not. */
function saidLines({ reading }: PaletteView, isRefused: boolean, inner: number): Line[] {
  const [text, tone] =
    reading === null
      ? (['No such command.', 'warn'] as const)
      : ([reading.said, toneOf(reading.kind, isRefused)] as const);
  const lines = wrapWithin(cleanText(text), inner - 2, 2).map((part): Line => [span(`  ${part}`, tone)]);
  return [lines[0] ?? [], lines[1] ?? []];
}

function toneOf(kind: 'ready' | 'open' | 'problem', isRefused: boolean): 'good' | 'dim' | 'warn' | 'bad' {
  if (kind === 'problem') return isRefused ? 'bad' : 'warn';
  return kind === 'ready' ? 'good' : isRefused ? 'warn' : 'dim';
}

function rule(inner: number): Line {
  return [span('─'.repeat(Math.max(0, inner)), 'faint')];
}

function rowLine(view: PaletteView, index: number, { dialog, ui, inner }: Look): Line {
  const line =
    view.kind === 'commands' ? entryLine(view.entries[index], ui, inner) : wordLine(view.offer.candidates[index]);
  const full = fitLine(line, inner);
  return index === dialog.index && line.length > 0 ? onBackground(full, 'selected') : full;
}

const nameWidth = 20;

function entryLine(entry: PaletteEntry | undefined, { keys }: UiState, inner: number): Line {
  if (entry === undefined) return [];
  const name = [span(` ${entry.name}`, 'strong'), span(entry.takes === '' ? '' : ` ${entry.takes}`, 'faint')];
  const used = 1 + textWidth(entry.name) + (entry.takes === '' ? 0 : 1 + textWidth(entry.takes));
  const key = entry.command === null ? '' : keyOf(entry.command, keys);
  const about = [...name, span(' '.repeat(Math.max(1, nameWidth - used))), span(entry.help, 'dim')];
  return ends(about, [span(` ${fit(key, 6)} `, 'key')], inner);
}

function wordLine(word: string | undefined): Line {
  return word === undefined ? [] : [span(` ${cleanText(word)}`)];
}
