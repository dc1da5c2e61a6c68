import type { Command } from '../../state/command.js';
import type { Pressed, KeyContext } from '../../keys/key-context.js';
import type { Offer } from '../../state/prompt.js';
import type { UiState } from '../../state/ui-state.js';

/** One command of the palette. */
export type PaletteEntry = {
  readonly name: string;
  /** Syntax of the arguments for the user: `[runs]`, `N [runs]`; empty: none. */
  readonly takes: string;
  readonly help: string;
  /** The command of the key table that does the same to the selection; null: no key does. */
  readonly command: Command | null;
  /** Possible arguments, if there is a fixed set of words; null: there is none. */
  readonly words: ((ui: UiState, at: KeyContext) => readonly string[]) | null;
  /** Where in the arguments a query for runs begins; null: there is none. */
  readonly queryAt: ((rest: string) => number) | null;
  /** Interprets the arguments: what Enter would do now. */
  readonly read: (rest: string, ui: UiState, at: KeyContext) => Reading;
};

/** What a command would do, before it is executed. */
export type Reading =
  /** `said`: what will be done, and to how many runs. */
  | { readonly kind: 'ready'; readonly said: string; readonly act: (ui: UiState) => Pressed }
  /** More arguments are required. */
  | { readonly kind: 'open'; readonly said: string }
  | { readonly kind: 'problem'; readonly said: string };

/** What the palette shows for the typed text. */
export type PaletteView =
  /** Matching commands, best match first; `reading`: what the chosen one would do. */
  | { readonly kind: 'commands'; readonly entries: readonly PaletteEntry[]; readonly reading: Reading | null }
  /** The command is unambiguous; `offer`: possible completions at the cursor. */
  | { readonly kind: 'arguments'; readonly entry: PaletteEntry; readonly offer: Offer; readonly reading: Reading };

export function problem(said: string): Reading {
  return { kind: 'problem', said };
}

export function open(said: string): Reading {
  return { kind: 'open', said };
}
