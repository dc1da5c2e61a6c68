import { runVerbNames } from '../../protocol/run-verbs.js';
import type { WindowModel } from '../model/window-model.js';
import type { Command } from '../state/command.js';
import type { KeyBindings, KeyMapping, KeyPreset, PanePart } from '../state/preferences-port.js';
import type { UiState } from '../state/ui-state.js';
import { distance, type Handler, type KeyContext, type Movement, type Pressed, refuse } from './key-context.js';

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

/** How a screen handles a movement. */
type Move = (ui: UiState, movement: Movement, at: KeyContext) => Pressed;

/** Keys for ↑ and ↓, pages, and the ends. `short`: the word for ↑ and ↓ in the footer. */
export function movementRows(move: Move, short: Short): KeyRow[] {
  const row = (command: Movement, keys: Pick<KeyRow, 'keys' | 'shown'>, help: string): KeyRow => ({
    ...{ command, ...keys, help, group: 'move' },
    act: (ui, at) => move(ui, command, at),
  });
  return [
    {
      ...row('up', { keys: ['up'], shown: '↑' }, 'up one row'),
      ...{ short, hint: '↑↓', worth: 2 },
    },
    row('down', { keys: ['down'], shown: '↓' }, 'down one row'),
    row('page-up', { keys: ['pageup'], shown: 'PgUp' }, 'up one page'),
    row('page-down', { keys: ['pagedown'], shown: 'PgDn' }, 'down one page'),
    row('first', { keys: ['home'], shown: 'Home' }, 'first row'),
    row('last', { keys: ['end'], shown: 'End' }, 'last row'),
  ];
}

export const leftKey = { keys: ['left'], shown: '←' } as const;
export const rightKey = { keys: ['right'], shown: '→' } as const;
export const enterKey = { keys: ['enter'], shown: 'Enter' } as const;
export const tabKey = { keys: ['tab'], shown: 'Tab' } as const;
export const escapeKey = { keys: ['escape'], shown: 'Esc' } as const;

/** The position after a movement among `length` rows or lines. */
export function placeAfter(
  from: number,
  movement: Movement,
  { length, page }: { readonly length: number; readonly page: number },
): number {
  return within(from + distance(movement, page), length - 1);
}

/** The first visible row after a movement over what the screen scrolls. The last page is kept full. */
export function topAfter(from: number, movement: Movement, at: KeyContext): number {
  const { length, page } = at.extent ?? { length: 0, page: at.page };
  return placeAfter(from, movement, { length: length - page + 1, page });
}

export function within(value: number, last: number): number {
  return Math.max(0, Math.min(last, value));
}

/** Keys that move the boundary between the panes of a screen. `part`: the pane before it; `name`: as the help calls it. */
export function paneRows(part: PanePart, name: string): KeyRow[] {
  return [
    {
      ...{
        command: 'pane-smaller',
        keys: ['<'],
        group: 'window',
        help: `${name} smaller, what is beside or below larger`,
      },
      act: (ui, at) => movedBoundary(ui, part, -1, at),
    },
    {
      ...{ command: 'pane-larger', keys: ['>'], group: 'window', help: `${name} larger` },
      act: (ui, at) => movedBoundary(ui, part, 1, at),
    },
  ];
}

function movedBoundary(ui: UiState, part: PanePart, way: 1 | -1, { boundary }: KeyContext): Pressed {
  if (boundary === null || boundary === undefined) {
    return refuse(ui, 'There is one pane here; a larger terminal shows two.');
  }
  return { ui: { ...ui, panes: { ...ui.panes, [part]: boundary.size + way * boundary.step } } };
}
