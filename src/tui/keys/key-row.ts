import type { Handler, KeyContext } from './key-context.js';
import type { WindowModel } from '../model/window-model.js';
import type { Command } from '../state/command.js';
import { keepsPair, mappedKeys, shownKey } from './key-mapping.js';
import type { KeyMapping } from '../state/preferences-port.js';
import type { UiState } from '../state/ui-state.js';

/** Topics of keys, in the order of the help. */
export const keyGroups = ['move', 'runs', 'list', 'charts', 'log', 'window'] as const;
export type KeyGroup = (typeof keyGroups)[number];

/** A word or two for the footer; null: the key is left out. */
export type Short = string | ((model: WindowModel) => string | null);

/** One key of a screen or of the whole window. If it cannot act, `act` gives the reason. */
export type KeyRow = {
  readonly command: Command;
  /** Key names as in `keyNames`, in the default preset. */
  readonly keys: readonly string[];
  /** How the key is shown to the user; default: the first name. */
  readonly shown?: string;
  readonly help: string;
  readonly group: KeyGroup;
  readonly short?: Short;
  /** How the footer shows the key if its word stands for several keys: `↑↓`. */
  readonly hint?: string;
  /** Hints worth more stay longer in a narrow footer; default: 1. */
  readonly worth?: number;
  readonly act: Handler;
};

/** The keys of one screen. */
export type KeyTable = {
  readonly rows: readonly KeyRow[];
  /** The topic that comes first in the help of this screen. Absent: runs. */
  readonly about?: (ui: UiState) => KeyGroup;
  /** Why a key of another screen does nothing on this one. */
  readonly refusal: (elsewhere: Binding, ui: UiState, at: KeyContext) => string;
};

/** A row with its keys in one mapping. */
export type Binding = KeyRow & { readonly shown: string };

export function inMapping(row: KeyRow, keys: KeyMapping): Binding {
  const own = mappedKeys(row.command, keys);
  const bound = own === undefined ? { shown: row.shown ?? row.keys[0]! } : { keys: own, shown: shownKey(own[0]!) };
  if (row.hint === undefined || keepsPair(row.command, keys)) return { ...row, ...bound };
  return { ...row, ...bound, hint: bound.shown };
}

/** Worth of hints that are never left out of the footer because they lead on or out. */
export const always = Infinity;
