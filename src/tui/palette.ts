import type { Command } from './command.js';
import { fuzzyScore, ranked } from './fuzzy.js';
import { keyMap } from './key-map.js';
import type { EditedLine } from './line-editor.js';
import { choiceEntries } from './palette-choices.js';
import { machineEntries } from './palette-machine.js';
import { open, type PaletteEntry, type Reading } from './palette-entry.js';
import { runEntries } from './palette-runs.js';
import { type Offer, offerFor } from './prompt.js';
import type { KeyContext } from './key-context.js';
import type { UiState } from './ui-state.js';

/** What the palette shows for what has been typed. */
export type PaletteView =
  /** Commands to choose from, the best match first; `reading`: what the chosen one would do. */
  | { readonly kind: 'commands'; readonly entries: readonly PaletteEntry[]; readonly reading: Reading | null }
  /** The command is clear; `offer`: what can stand at the cursor. */
  | { readonly kind: 'arguments'; readonly entry: PaletteEntry; readonly offer: Offer; readonly reading: Reading };

/** `index`: the chosen row; null: none yet. */
export function paletteView(line: EditedLine, index: number, ui: UiState, at: KeyContext): PaletteView {
  const { name, rest } = divided(line.text);
  const entry = rest === null ? undefined : paletteEntries.find((each) => each.name === name);
  if (entry === undefined || rest === null) {
    const entries = matching(line.text);
    const isBegun = line.text.trim() !== '' || index > 0;
    const reading = isBegun ? (entries[index]?.read('', ui, at) ?? null) : open(hint);
    return { kind: 'commands', entries, reading };
  }
  const offer = offered(entry, line, ui, at);
  const chosen = entry.words === null ? undefined : offer.candidates[index];
  return { kind: 'arguments', entry, offer, reading: entry.read(chosen ?? rest, ui, at) };
}

const hint = 'Type a command. It acts on the marked runs, the selection, or a query after it: hold group:A';

/** Commands that what was typed may stand for: by their name, and after these by a word of what they do. */
export function matching(typed: string): readonly PaletteEntry[] {
  const word = typed.trim();
  if (word === '') return paletteEntries;
  return ranked(word, paletteEntries, ({ name, help }) => fuzzyScore(word, name) ?? inHelp(word, help));
}

/** Less than any match of the name is worth. */
function inHelp(word: string, help: string): number | null {
  const at = help.toLowerCase().indexOf(word.toLowerCase());
  return at < 0 || word.length < 3 ? null : -100 - at / 1000;
}

/** The name and what follows it; `rest` null: no blank was typed after the name yet. */
function divided(text: string): { name: string; rest: string | null } {
  const [, name, rest] = /^\s*(\S+)\s([^]*)$/.exec(text) ?? [];
  return name === undefined ? { name: text.trim(), rest: null } : { name, rest: rest! };
}

function offered(entry: PaletteEntry, line: EditedLine, ui: UiState, at: KeyContext): Offer {
  const start = line.text.length - divided(line.text).rest!.length;
  const rest = line.text.slice(start);
  if (entry.words !== null) {
    const typed = rest.trim();
    const words = entry.words(ui, at);
    const candidates = typed === '' ? words : ranked(typed, words, (word) => fuzzyScore(typed, word));
    return { from: start, candidates, chosen: null };
  }
  if (entry.queryAt === null) return { from: line.at, candidates: [], chosen: null };
  const from = start + entry.queryAt(rest);
  if (line.at < from) return { from: line.at, candidates: [], chosen: null };
  const offer = offerFor({ text: line.text.slice(from), at: line.at - from }, at.runs);
  return { ...offer, from: from + offer.from };
}

/** What only makes sense as a key, or stands in the palette under another name. */
const unnamed: ReadonlySet<Command> = new Set([
  ...(['up', 'down', 'page-up', 'page-down', 'first', 'last', 'jump', 'open', 'back', 'next-pane', 'palette'] as const),
  ...[...runEntries, ...machineEntries, ...choiceEntries].flatMap(({ command }) => (command === null ? [] : [command])),
]);

/** Every command by name: first those that act on runs, on the machine and on the view, then what only has a key. */
export const paletteEntries: readonly PaletteEntry[] = [...runEntries, ...machineEntries, ...choiceEntries, ...keyed()];

function keyed(): PaletteEntry[] {
  return keyMap
    .filter(({ command }) => !unnamed.has(command))
    .map(({ command, help }) => ({
      ...{ name: command, takes: '', help, command, words: null, queryAt: null },
      read: () => ({ kind: 'ready', said: help, act: (ui) => ({ ui, command }) }),
    }));
}
