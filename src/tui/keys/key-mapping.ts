import type { Command } from '../state/command.js';
import type { KeyBindings, KeyMapping, KeyPreset } from '../state/preferences-port.js';

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
export function keepsPair(command: Command, keys: KeyMapping): boolean {
  const both = [command, partners[command] ?? command];
  return both.every((each) => [undefined, presetMappings.vim[each]].includes(mappedKeys(each, keys)));
}
