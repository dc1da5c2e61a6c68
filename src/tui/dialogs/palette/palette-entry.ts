import type { Command } from '../../state/command.js';
import type { Pressed, KeyContext } from '../../keys/key-context.js';
import type { Offer } from '../../state/prompt.js';
import type { UiState } from '../../state/ui-state.js';

/** One command of the palette. */
export type PaletteEntry = {
  readonly name: string;
  /** What may follow, as a person reads it: `[runs]`, `N [runs]`; empty: nothing. */
  readonly takes: string;
  readonly help: string;
  /** The command of the key table that does the same on the selection; null: no key does. */
  readonly command: Command | null;
  /** What may follow when it is one of some words; null: it is no such word. */
  readonly words: ((ui: UiState, at: KeyContext) => readonly string[]) | null;
  /** Where in what follows a query begins that chooses runs; null: there is none. */
  readonly queryAt: ((rest: string) => number) | null;
  /** What Enter would do now. */
  readonly read: (rest: string, ui: UiState, at: KeyContext) => Reading;
};

/** What a command would do, before it does it. */
export type Reading =
  /** `said`: what will be done, and to how many runs. */
  | { readonly kind: 'ready'; readonly said: string; readonly act: (ui: UiState) => Pressed }
  /** Something has to follow yet. */
  | { readonly kind: 'open'; readonly said: string }
  | { readonly kind: 'problem'; readonly said: string };

/** What the palette shows for what has been typed. */
export type PaletteView =
  /** Commands to choose from, the best match first; `reading`: what the chosen one would do. */
  | { readonly kind: 'commands'; readonly entries: readonly PaletteEntry[]; readonly reading: Reading | null }
  /** The command is clear; `offer`: what can stand at the cursor. */
  | { readonly kind: 'arguments'; readonly entry: PaletteEntry; readonly offer: Offer; readonly reading: Reading };

export function problem(said: string): Reading {
  return { kind: 'problem', said };
}

export function open(said: string): Reading {
  return { kind: 'open', said };
}
