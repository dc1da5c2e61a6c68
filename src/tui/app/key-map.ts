import { type KeyedVerb, keyedVerbs, type KeyWords, runVerbs, type VerbKeys } from '../../protocol/run-verbs.js';
import type { Command } from '../state/command.js';
import type { KeyPreset } from '../state/preferences-port.js';

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
  /** The keys of the vim preset, where they are others. */
  readonly vim?: Pick<Binding, 'keys' | 'shown'>;
};

const digits = ['1', '2', '3', '4', '5', '6', '7', '8', '9', '0'];

/** Every key, once. The footer, the help screen, the README's table and the key handler all read this. */
export const keyMap: readonly Binding[] = [
  { command: 'up', keys: ['up'], shown: '↑', short: null, help: 'up one row', vim: { keys: ['up', 'k'], shown: 'k' } },
  {
    command: 'down',
    keys: ['down', 'j'],
    shown: '↓',
    short: null,
    help: 'down one row (also j)',
    vim: { keys: ['down', 'j'], shown: 'j' },
  },
  {
    command: 'page-up',
    keys: ['pageup'],
    shown: 'PgUp',
    short: null,
    help: 'up one page',
    vim: { keys: ['pageup', 'ctrl-b', 'ctrl-u'], shown: 'Ctrl-B' },
  },
  {
    command: 'page-down',
    keys: ['pagedown'],
    shown: 'PgDn',
    short: null,
    help: 'down one page',
    vim: { keys: ['pagedown', 'ctrl-f', 'ctrl-d'], shown: 'Ctrl-F' },
  },
  { command: 'first', keys: ['home'], shown: 'Home', short: null, help: 'first row' },
  {
    command: 'last',
    keys: ['end'],
    shown: 'End',
    short: null,
    help: 'last row',
    vim: { keys: ['end', 'G'], shown: 'G' },
  },
  {
    command: 'jump',
    keys: digits,
    shown: '0–9',
    short: 'group',
    help: 'go to the group with that number (0 is the tenth)',
  },
  {
    command: 'fold',
    keys: ['left'],
    shown: '←',
    short: null,
    help: 'fold the group; on a run: go to its group',
    vim: { keys: ['left', 'h'], shown: 'h' },
  },
  {
    command: 'unfold',
    keys: ['right'],
    shown: '→',
    short: null,
    help: 'unfold the group',
    vim: { keys: ['right', 'l'], shown: 'l' },
  },
  {
    command: 'open',
    keys: ['enter'],
    shown: 'Enter',
    short: 'open',
    help: 'open the run or group full-screen',
  },
  {
    command: 'back',
    keys: ['escape'],
    shown: 'Esc',
    short: null,
    help: 'go back; clear the filter; cancel a question',
  },
  {
    command: 'next-pane',
    keys: ['tab'],
    shown: 'Tab',
    short: null,
    help: 'next pane of an open run, next view of a comparison',
  },
  {
    command: 'mark',
    keys: ['space'],
    shown: 'Space',
    short: null,
    help: 'mark the run or group; actions apply to what is marked',
  },
  { command: 'mark-all', keys: ['*'], shown: '*', short: null, help: 'mark all runs shown; again: unmark all' },
  ...keyedVerbs.flatMap(verbBindings),
  {
    command: 'extend',
    keys: ['e'],
    shown: 'e',
    short: null,
    help: 'extend the sweep: edit its file in $EDITOR and submit what is new',
  },
  {
    command: 'clone',
    keys: ['E'],
    shown: 'E',
    short: null,
    help: 'clone the run with other parameters, edited in $EDITOR',
  },
  { command: 'more-slots', keys: ['+'], shown: '+', short: null, help: 'add a slot' },
  { command: 'fewer-slots', keys: ['-'], shown: '-', short: null, help: 'remove a slot' },
  {
    command: 'drain',
    keys: ['D'],
    shown: 'D',
    short: null,
    help: 'drain the GPU: no new runs start on it; again: undrain it',
  },
  {
    command: 'palette',
    keys: [':'],
    shown: ':',
    short: 'command',
    help: 'command palette: any command, on the selection, the marks or a query',
  },
  { command: 'copy', keys: ['y'], shown: 'y', short: null, help: 'copy the command of the run' },
  { command: 'shell', keys: ['o'], shown: 'o', short: null, help: 'open the directory of the run in a shell' },
  {
    command: 'filter',
    keys: ['/'],
    shown: '/',
    short: 'filter',
    help: 'filter runs: name, status:failed, N>=64; in a log: search',
  },
  {
    command: 'failures',
    keys: ['F'],
    shown: 'F',
    short: null,
    help: 'failures by kind of error, with the parameters that go with each; again: back',
    vim: { keys: ['W'], shown: 'W' },
  },
  {
    command: 'group',
    keys: ['g'],
    shown: 'g',
    short: 'group by',
    help: 'group the list by sweep group, state, GPU or a parameter; two levels',
  },
  {
    command: 'sort',
    keys: ['s'],
    shown: 's',
    short: 'sort',
    help: 'sort by file order, state, metric, time, name or an added column: the next one',
  },
  { command: 'reverse-sort', keys: ['I'], shown: 'I', short: null, help: 'reverse the order' },
  { command: 'columns', keys: ['C'], shown: 'C', short: null, help: 'choose the columns of the list' },
  {
    command: 'views',
    keys: ['v'],
    shown: 'v',
    short: null,
    help: 'save and recall views: filter, grouping, order, columns',
  },
  { command: 'metric', keys: ['m'], shown: 'm', short: 'metric', help: 'choose the metric of the list and the chart' },
  {
    command: 'x-axis',
    keys: ['x'],
    shown: 'x',
    short: null,
    help: 'x axis: step, time, relative time, or any metric',
    vim: { keys: ['i'], shown: 'i' },
  },
  {
    command: 'log-y',
    keys: ['l'],
    shown: 'l',
    short: null,
    help: 'logarithmic y axis',
    vim: { keys: ['Y'], shown: 'Y' },
  },
  { command: 'log-x', keys: ['L'], shown: 'L', short: null, help: 'logarithmic x axis' },
  { command: 'smooth', keys: ['~'], shown: '~', short: null, help: 'smoothing: more, then off' },
  {
    command: 'spread',
    keys: ['a'],
    shown: 'a',
    short: null,
    help: 'seeds: each one, mean ± std, 95 % band or min–max, median, IQM',
  },
  {
    command: 'carry',
    keys: ['A'],
    shown: 'A',
    short: null,
    help: 'seeds: carry the last value of runs that ended early, or leave them out',
  },
  { command: 'clip', keys: ['u'], shown: 'u', short: null, help: 'ignore outliers in the y range' },
  { command: 'zoom-in', keys: ['z'], shown: 'z', short: null, help: 'zoom into the chart around its cursor' },
  { command: 'zoom-out', keys: ['Z'], shown: 'Z', short: null, help: 'zoom out' },
  { command: 'compare', keys: ['c'], shown: 'c', short: 'compare', help: 'compare the marked runs or groups' },
  { command: 'baseline', keys: ['b'], shown: 'b', short: null, help: 'pin the selection as the baseline' },
  { command: 'search-next', keys: ['n'], shown: 'n', short: null, help: 'next match in the log' },
  { command: 'search-previous', keys: ['N'], shown: 'N', short: null, help: 'previous match in the log' },
  { command: 'first-error', keys: ['!'], shown: '!', short: null, help: 'jump to the first error in the log' },
  { command: 'wrap', keys: ['w'], shown: 'w', short: null, help: 'wrap long lines of the log' },
  { command: 'gpus', keys: ['d'], shown: 'd', short: 'GPUs', help: 'the GPUs: gauges, runs, foreign processes' },
  { command: 'sweep', keys: ['S'], shown: 'S', short: 'sweep', help: 'the sweep as a whole' },
  { command: 'table', keys: ['t'], shown: 't', short: 'table', help: 'the summary table of the sweep' },
  { command: 'help', keys: ['?'], shown: '?', short: 'help', help: 'show the keys' },
  { command: 'repaint', keys: ['ctrl-l'], shown: 'Ctrl-L', short: null, help: 'draw the screen again' },
  { command: 'suspend', keys: ['ctrl-z'], shown: 'Ctrl-Z', short: null, help: 'suspend the window; fg brings it back' },
  {
    command: 'leave',
    keys: ['q', 'ctrl-c'],
    shown: 'q',
    short: 'detach',
    help: 'detach (also Ctrl-C); runs keep running',
  },
];

/** The keys of a run verb: the small letter for runs, the large one for the group. */
function verbBindings(verb: KeyedVerb): Binding[] {
  const { key, vim, run, group }: VerbKeys = runVerbs[verb].keys;
  const bound = (shown: string) => ({ keys: [shown], shown });
  const binding = (command: Command, words: KeyWords, shown: (letter: string) => string): Binding => {
    const row = { command, ...bound(shown(key)), ...words };
    return vim === undefined ? row : { ...row, vim: bound(shown(vim)) };
  };
  return [binding(verb, run, (letter) => letter), binding(`${verb}-group`, group, (letter) => letter.toUpperCase())];
}

const presets: Record<KeyPreset, readonly Binding[]> = {
  default: keyMap,
  vim: keyMap.map((binding) => ({ ...binding, ...binding.vim })),
};

const commands = mapPresets(
  (preset) => new Map(presets[preset].flatMap(({ keys, command }) => keys.map((key) => [key, command] as const))),
);

/** The table as it is in a preset. */
export function keyMapOf(preset: KeyPreset): readonly Binding[] {
  return presets[preset];
}

/** What a key asks for; undefined for a key that is bound to nothing. */
export function commandFor(key: string, preset: KeyPreset = 'default'): Command | undefined {
  return commands[preset].get(key);
}

/** How the key of a command is shown to a person. */
export function keyOf(command: Command, preset: KeyPreset): string {
  return presets[preset].find((binding) => binding.command === command)!.shown;
}

/** The table of keys for the README. */
export function keyTableMarkdown(): string {
  const code = (key: string): string => `\`${key}\``;
  const rows = keyMap.map(({ shown, vim, help }) => `| ${code(shown)} | ${vim ? code(vim.shown) : ''} | ${help} |`);
  return ['| key | in the vim preset | does |', '| --- | --- | --- |', ...rows].join('\n');
}

function mapPresets<Value>(make: (preset: KeyPreset) => Value): Record<KeyPreset, Value> {
  return { default: make('default'), vim: make('vim') };
}
