import { type Command } from './command.js';

/** One row of the table of keys. */
export type Binding = {
  readonly command: Command;
  /** Names of keys as `keyNames` gives them. */
  readonly keys: readonly string[];
  /** How the key is shown to a person. */
  readonly shown: string;
  /** A word or two for the footer; null where the footer has better things to say. */
  readonly short: string | null;
  readonly help: string;
};

const digits = ['1', '2', '3', '4', '5', '6', '7', '8', '9', '0'];

/** Every key, once. The footer, the help screen, the README's table and the key handler all read this. */
export const keyMap: readonly Binding[] = [
  { command: 'up', keys: ['up'], shown: '↑', short: null, help: 'up one row' },
  { command: 'down', keys: ['down'], shown: '↓', short: null, help: 'down one row' },
  { command: 'page-up', keys: ['pageup'], shown: 'PgUp', short: null, help: 'up one page' },
  { command: 'page-down', keys: ['pagedown'], shown: 'PgDn', short: null, help: 'down one page' },
  { command: 'first', keys: ['home'], shown: 'Home', short: null, help: 'to the first row' },
  { command: 'last', keys: ['end'], shown: 'End', short: null, help: 'to the last row' },
  {
    command: 'jump',
    keys: digits,
    shown: '0–9',
    short: 'group',
    help: 'to the group with that number (0 is the tenth)',
  },
  { command: 'fold', keys: ['left'], shown: '←', short: null, help: 'fold the group; on a run: to its group' },
  { command: 'unfold', keys: ['right'], shown: '→', short: null, help: 'unfold the group' },
  {
    command: 'open',
    keys: ['enter'],
    shown: 'Enter',
    short: 'open',
    help: 'open the run or group on the whole screen',
  },
  { command: 'back', keys: ['escape'], shown: 'Esc', short: null, help: 'back; clears the filter; cancels a question' },
  { command: 'kill', keys: ['k'], shown: 'k', short: 'kill', help: 'kill the run (press twice)' },
  {
    command: 'kill-group',
    keys: ['K'],
    shown: 'K',
    short: 'kill group',
    help: 'kill the group of the selection (press twice)',
  },
  { command: 'resume', keys: ['r'], shown: 'r', short: 'resume', help: 'start the run again from where it stopped' },
  { command: 'resume-group', keys: ['R'], shown: 'R', short: null, help: 'resume all stopped runs of the group' },
  {
    command: 'hold',
    keys: ['h'],
    shown: 'h',
    short: 'hold',
    help: 'hold the run back from starting; again: release it',
  },
  {
    command: 'hold-group',
    keys: ['H'],
    shown: 'H',
    short: null,
    help: 'hold all waiting runs of the group; release them',
  },
  { command: 'pause', keys: ['p'], shown: 'p', short: 'pause', help: 'pause the run; again: let it continue' },
  {
    command: 'pause-group',
    keys: ['P'],
    shown: 'P',
    short: null,
    help: 'pause all running runs of the group; continue',
  },
  {
    command: 'filter',
    keys: ['/'],
    shown: '/',
    short: 'filter',
    help: 'show some runs: name, status:failed, group:A, N>=64',
  },
  { command: 'sort', keys: ['s'], shown: 's', short: 'sort', help: 'next order: file order, state, metric, time' },
  { command: 'metric', keys: ['m'], shown: 'm', short: 'metric', help: 'choose the metric of the list and the chart' },
  { command: 'table', keys: ['t'], shown: 't', short: 'table', help: 'the summary table of the sweep' },
  { command: 'help', keys: ['?'], shown: '?', short: 'help', help: 'this table' },
  { command: 'repaint', keys: ['ctrl-l'], shown: 'Ctrl-L', short: null, help: 'draw the screen again' },
  { command: 'suspend', keys: ['ctrl-z'], shown: 'Ctrl-Z', short: null, help: 'stop the window; fg brings it back' },
  {
    command: 'leave',
    keys: ['q', 'ctrl-c'],
    shown: 'q',
    short: 'detach',
    help: 'leave the window (also Ctrl-C); runs go on',
  },
];

/** What a key asks for; undefined for a key that is bound to nothing. */
export function commandFor(key: string): Command | undefined {
  return commands.get(key);
}

/** The table of keys for the README. */
export function keyTableMarkdown(): string {
  const rows = keyMap.map(({ shown, help }) => `| \`${shown}\` | ${help} |`);
  return ['| key | does |', '| --- | --- |', ...rows].join('\n');
}

const commands = new Map(keyMap.flatMap(({ keys, command }) => keys.map((key) => [key, command] as const)));
