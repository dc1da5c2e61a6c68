import type { Handler, KeyContext } from './key-context.js';
import type { WindowModel } from '../model/window-model.js';
import type { Command } from '../state/command.js';
import type { KeyPreset } from '../state/preferences-port.js';
import type { UiState } from '../state/ui-state.js';

/** What a key has to do with. The help stands in this order. */
export const keyGroups = ['move', 'runs', 'list', 'charts', 'log', 'window'] as const;
export type KeyGroup = (typeof keyGroups)[number];

/** A word or two for the footer; null: the footer has better things to say. */
export type Short = string | ((model: WindowModel) => string | null);

/** One key of a screen, or of the whole window: what it is called and what it does. A key that cannot act says why in `act`. */
export type KeyRow = {
  readonly command: Command;
  /** Names of keys as `keyNames` gives them. */
  readonly keys: readonly string[];
  /** How the key is shown to a person, if not by the name of the first. */
  readonly shown?: string;
  /** The keys of the vim preset, where they are others. */
  readonly vim?: { readonly keys: readonly string[]; readonly shown: string };
  readonly help: string;
  readonly group: KeyGroup;
  readonly short?: Short;
  /** How the footer shows it where its word stands for several keys: `↑↓`. */
  readonly hint?: string;
  /** How long its word stays in a footer that gets narrow; 1 unless it is given. */
  readonly worth?: number;
  readonly act: Handler;
};

/** The keys of one screen. */
export type KeyTable = {
  readonly rows: readonly KeyRow[];
  /** What a person most likely asks about there: it stands first in the help. Absent: runs. */
  readonly about?: (ui: UiState) => KeyGroup;
  /** Why a key that another screen has does nothing on this one. */
  readonly refusal: (elsewhere: Binding, ui: UiState, at: KeyContext) => string;
};

/** A row as it is in one preset. */
export type Binding = KeyRow & { readonly shown: string };

export function inPreset(row: KeyRow, preset: KeyPreset): Binding {
  const { vim } = row;
  return { ...row, shown: row.shown ?? row.keys[0]!, ...(preset === 'vim' ? vim : undefined) };
}

/** Worth of what leads on or out: it is never left out of the footer. */
export const always = Infinity;
