import { runVerbNames } from '../../protocol/run-verbs.js';
import type { WindowModel } from '../model/window-model.js';
import type { Command } from '../state/command.js';
import type { KeyBindings, KeyMapping, KeyPreset } from '../state/preferences-port.js';
import type { UiState } from '../state/ui-state.js';
import type { Handler, KeyContext } from './key-context.js';

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

const sameInVim = { left: ['h', 'left'], right: ['l', 'right'] } as const;

/** The keys of each preset by command; other commands have the keys of their rows. */
export const presetMappings: Readonly<Record<KeyPreset, KeyBindings>> = {
  default: {},
  vim: {
    up: ['k', 'up'],
    down: ['j', 'down'],
    'page-up': ['ctrl-b', 'ctrl-u', 'pageup'],
    'page-down': ['ctrl-f', 'ctrl-d', 'pagedown'],
    last: ['G', 'end'],
    fold: sameInVim.left,
    left: sameInVim.left,
    unfold: sameInVim.right,
    right: sameInVim.right,
    kill: ['x'],
    'kill-group': ['X'],
    hold: ['f'],
    'hold-group': ['F'],
    failures: ['W'],
    type: ['t'],
    'x-axis': ['i'],
    'log-y': ['Y'],
  },
};

/** The keys of a mapping by command. A preset stands for its mapping. */
function bindingsOf(keys: KeyMapping): KeyBindings {
  return typeof keys === 'string' ? presetMappings[keys] : keys;
}

/** The keys of a command; undefined: those of its row. */
export function mappedKeys(command: Command, keys: KeyMapping): readonly string[] | undefined {
  return bindingsOf(keys)[command];
}

const shownNames: Readonly<Record<string, string>> = {
  ...{ up: '↑', down: '↓', left: '←', right: '→', pageup: 'PgUp', pagedown: 'PgDn', home: 'Home', end: 'End' },
  ...{ enter: 'Enter', escape: 'Esc', tab: 'Tab', 'shift-tab': 'Shift-Tab', space: 'Space', backspace: 'Backspace' },
};

/** How a key is shown to users: `Ctrl-B`, `Space`, `k`. */
export function shownKey(key: string): string {
  const modified = /^(ctrl|alt)-(.+)$/.exec(key);
  if (modified !== null) return `${modified[1] === 'ctrl' ? 'Ctrl' : 'Alt'}-${modified[2]!.toUpperCase()}`;
  return shownNames[key] ?? key;
}

/** Whether a terminal can send a key of this name. */
export function isKeyName(key: string): boolean {
  return Object.hasOwn(shownNames, key) || /^ctrl-[a-z]$/.test(key) || /^(alt-)?[^\s\p{C}]$/u.test(key);
}

/** Commands whose keys the footer shows as a pair: `↑↓`. */
const partners: Partial<Record<Command, Command>> = {
  ...{ up: 'down', fold: 'unfold', left: 'right' },
  ...{ 'more-slots': 'fewer-slots', 'search-next': 'search-previous' },
};

/** Whether a command and its partner have the keys that the hint of both shows; those of the vim preset are among them. */
function keepsPair(command: Command, keys: KeyMapping): boolean {
  const both = [command, partners[command] ?? command];
  return both.every((each) => [undefined, presetMappings.vim[each]].includes(mappedKeys(each, keys)));
}

const acting: ReadonlySet<string> = new Set([
  ...runVerbNames.flatMap((verb) => [verb, `${verb}-group`]),
  ...['star', 'unstar', 'tag', 'note', 'remove-note', 'clone', 'terminal', 'extend'],
  ...['slots', 'more-slots', 'fewer-slots', 'use-gpus', 'per-gpu', 'drain', 'undrain'],
]);

/**
 * Whether a command, by its name in the key table or the palette, changes runs, sweeps or the machine. A window that only looks offers
 * none of these.
 */
export function isActing(command: string): boolean {
  return acting.has(command);
}
