import { didYouMean } from '../../text/nearest.js';
import { extendSweep } from '../keys/editor-handler.js';
import { type KeyContext, opens, type Pressed, refuse } from '../keys/key-context.js';
import {
  always,
  type Binding,
  escapeKey,
  inMapping,
  isKeyName,
  type KeyRow,
  mappedKeys,
  presetMappings,
  type Short,
  shownKey,
} from '../keys/key-row.js';
import type { Command } from '../state/command.js';
import type { KeyBindings, KeyMapping, WindowPreferences } from '../state/preferences-port.js';
import type { ScreenKind, UiState } from '../state/ui-state.js';
import { screens } from './registry.js';

/** A word that the footer shows only on the list. */
const onList =
  (word: string): Short =>
  ({ ui }) =>
    ui.screen.kind === 'jobs' ? word : null;

/** Keys of every screen that does not use them otherwise. */
const windowKeys: readonly KeyRow[] = [
  {
    ...{ command: 'palette', keys: [':'], group: 'window', short: onList('command'), worth: 4, act: opens('palette') },
    help: 'command palette: any command, on the selection, the marks or a query',
  },
  {
    ...{ command: 'filter', keys: ['/'], group: 'list', short: onList('filter'), worth: 4, act: opens('filter') },
    help: 'filter runs: name, status:failed, N>=64',
  },
  {
    ...{ command: 'extend', keys: ['e'], group: 'runs', act: extendSweep },
    help: 'extend the sweep: edit its file in $EDITOR and submit what is new',
  },
  {
    ...{ command: 'more-slots', keys: ['+'], group: 'runs', help: 'add a slot', hint: '+ -' },
    short: ({ ui }) => (ui.screen.kind === 'gpus' ? 'slots' : null),
    // The number of CPU slots does not depend on whether there are GPUs.
    act: (ui) => ({ ui, order: { type: 'more-slots', by: 1 } }),
  },
  {
    ...{ command: 'show', keys: ['O'], group: 'window', act: opens('sweeps') },
    short: ({ ui, sweepCount }) => (ui.screen.kind === 'jobs' && sweepCount > 1 ? 'other sweep' : null),
    help: 'open another sweep of this directory, or all of them',
  },
  { command: 'fewer-slots', keys: ['-'], group: 'runs', help: 'remove a slot', act: fewerSlots },
  {
    ...{ command: 'back', ...escapeKey, group: 'window', help: 'go back to the list', worth: always },
    short: 'back',
    act: (ui) => ({ ui: { ...ui, screen: { kind: 'jobs' } } }),
  },
  {
    ...{ command: 'help', keys: ['?'], group: 'window', help: 'show the keys', short: 'help', worth: always },
    act: opens('help'),
  },
  {
    ...{ command: 'repaint', keys: ['ctrl-l'], shown: 'Ctrl-L', group: 'window', help: 'draw the screen again' },
    act: (ui) => ({ ui, order: { type: 'repaint' } }),
  },
  {
    ...{ command: 'suspend', keys: ['ctrl-z'], shown: 'Ctrl-Z', group: 'window' },
    help: 'suspend the window; fg brings it back',
    act: (ui) => ({ ui, order: { type: 'suspend' } }),
  },
  {
    ...{ command: 'leave', keys: ['q', 'ctrl-c'], group: 'window', short: 'detach', worth: always },
    help: 'detach (also Ctrl-C); runs keep running',
    act: (ui) => ({ ui, order: { type: 'leave' } }),
  },
];

function fewerSlots(ui: UiState, { status, keyOf }: KeyContext): Pressed {
  if (status.cpu.slots > 0) return { ui, order: { type: 'more-slots', by: -1 } };
  return refuse(ui, `There are no slots left to remove; ${keyOf('more-slots')} adds one.`);
}

const kinds = Object.keys(screens) as ScreenKind[];

/** The keys of a screen: its own, those that show another screen, and those of the window that it does not use itself. */
function rowsOf(kind: ScreenKind): readonly KeyRow[] {
  const openers = kinds.flatMap((each) => screens[each].opener ?? []);
  return uniqueCommands([...screens[kind].keys.rows, ...openers, ...windowKeys]);
}

function uniqueCommands(rows: readonly KeyRow[]): readonly KeyRow[] {
  const known = new Map<Command, KeyRow>();
  for (const row of rows) if (!known.has(row.command)) known.set(row.command, row);
  return [...known.values()];
}

type Bindings = { readonly rows: readonly Binding[]; readonly byKey: ReadonlyMap<string, Binding> };

function bindings(rows: readonly KeyRow[], keys: KeyMapping): Bindings {
  const bound = rows.map((row) => inMapping(row, keys));
  // If two rows have the same key, the first one wins.
  const entries = bound.flatMap((row) => row.keys.map((key) => [key, row] as const)).reverse();
  return { rows: bound, byKey: new Map(entries) };
}

/** Each command once, as described by the first screen that has it. */
const allRows = uniqueCommands(kinds.flatMap(rowsOf));

/** The keys of every screen, and of all, in one mapping. */
type Bound = { readonly perScreen: ReadonlyMap<ScreenKind, Bindings>; readonly all: Bindings };

/** A window has one mapping, and another one only when the user chooses it. */
const boundMappings = new Map<KeyMapping, Bound>();
const MOST_BOUND = 8;

function boundIn(keys: KeyMapping): Bound {
  const bound = boundMappings.get(keys);
  if (bound !== undefined) return bound;
  if (boundMappings.size >= MOST_BOUND) boundMappings.clear();
  const made = {
    perScreen: new Map(kinds.map((kind) => [kind, bindings(rowsOf(kind), keys)] as const)),
    all: bindings(allRows, keys),
  };
  boundMappings.set(keys, made);
  return made;
}

/** The keys of a screen in a mapping, its own first. */
export function keysOn(screen: ScreenKind, keys: KeyMapping): readonly Binding[] {
  return boundIn(keys).perScreen.get(screen)!.rows;
}

/** The binding of a key on a screen; undefined: none. */
export function bindingFor(screen: ScreenKind, key: string, keys: KeyMapping): Binding | undefined {
  return boundIn(keys).perScreen.get(screen)!.byKey.get(key);
}

/** Every command with its key. */
export function keyMapOf(keys: KeyMapping): readonly Binding[] {
  return boundIn(keys).all.rows;
}

/** The command of a key on the list, or else on the first screen that has it; undefined for an unbound key. */
export function commandFor(key: string, keys: KeyMapping = 'default'): Command | undefined {
  return elsewhere(key, keys)?.command;
}

/** The binding of a key on the first screen that has it. */
export function elsewhere(key: string, keys: KeyMapping): Binding | undefined {
  return boundIn(keys).all.byKey.get(key);
}

/** How the key of a command is shown to the user. */
export function keyOf(command: Command, keys: KeyMapping): string {
  return boundIn(keys).all.rows.find((binding) => binding.command === command)!.shown;
}

/** The table of keys for the documentation: each meaning of a key once, with its screens. */
export function keyTableMarkdown(): string {
  const code = (key: string): string => `\`${key}\``;
  const meanings = new Map<string, { row: Binding; on: ScreenKind[] }>();
  for (const kind of kinds) {
    for (const row of keysOn(kind, 'default')) {
      const meaning = `${row.command} ${row.help}`;
      const known = meanings.get(meaning) ?? { row, on: [] };
      meanings.set(meaning, { row, on: [...known.on, kind] });
    }
  }
  const rows = [...meanings.values()].map(({ row: { shown, command, help }, on }) => {
    const vim = mappedKeys(command, 'vim');
    const where = on.length === kinds.length ? 'everywhere' : on.map((kind) => screens[kind].name).join(', ');
    return `| ${code(shown)} | ${vim === undefined ? '' : code(shownKey(vim[0]!))} | ${where} | ${help} |`;
  });
  return ['| key | in the vim preset | on | does |', '| --- | --- | --- | --- |', ...rows].join('\n');
}

/** The keys of a window. `problem`: why the user's own keys are left out, with the fix; null: they are used, or there are none. */
type ChosenKeys = { readonly keys: KeyMapping; readonly problem: string | null };

/** The keys of a preset with the user's own in place of some. If one of those cannot be, none is used. */
export function chosenKeys({ keys: preset, bindings: own }: Pick<WindowPreferences, 'keys' | 'bindings'>): ChosenKeys {
  const entries = Object.entries(own).map(([name, keys]) => [name, typeof keys === 'string' ? [keys] : keys] as const);
  if (entries.length === 0) return { keys: preset, problem: null };
  const wrong = entries.map(([name, keys]) => mistakeIn(name, keys)).find((mistake) => mistake !== null);
  if (wrong !== undefined) return { keys: preset, problem: unused(wrong) };
  const bindings = Object.fromEntries(entries.map(([name, keys]) => [name, withUsual(name, keys)])) as KeyBindings;
  const keys = { ...presetMappings[preset], ...bindings };
  const problem = clashIn(keys, Object.keys(bindings) as Command[]);
  return problem === null ? { keys, problem } : { keys: preset, problem: unused(problem) };
}

function unused(why: string): string {
  return `The keys in the preferences are not used. ${why}`;
}

/** Commands that keep their key beside the user's, as many a message names it: `Esc goes back`. */
const kept: Partial<Record<string, string>> = { back: 'escape', open: 'enter', 'next-pane': 'tab' };

function withUsual(name: string, keys: readonly string[]): readonly string[] {
  const usual = kept[name];
  return usual === undefined || keys.includes(usual) ? keys : [...keys, usual];
}

/** Keys that work in every dialog, too, so that a window can always be left. */
const fixed: readonly string[] = ['ctrl-c', 'ctrl-l', 'ctrl-z'];

function mistakeIn(name: string, keys: readonly string[]): string | null {
  const names = keyMapOf('default').map(({ command }) => command);
  if (!names.includes(name as Command)) return `There is no command \`${name}\`. ${didYouMean(name, names)}`;
  if (name === 'jump') return '`jump` is what the digits do, and has no other keys. Remove it.';
  const unknown = keys.find((key) => !isKeyName(key));
  if (unknown !== undefined) {
    return `\`${unknown}\` for \`${name}\` is not a key. Write a character, ctrl-a to ctrl-z, alt-a, space, enter, tab, pageup or the like.`;
  }
  const taken = keys.find((key) => fixed.includes(key));
  return taken === undefined ? null : `\`${taken}\` works everywhere and cannot be \`${name}\`. Choose another key.`;
}

/** The first key that would be two commands of one screen, if one of those is the user's own. */
function clashIn(keys: KeyMapping, own: readonly Command[]): string | null {
  for (const kind of Object.keys(screens) as ScreenKind[]) {
    const known = new Map<string, Command>();
    for (const { command, keys: bound } of keysOn(kind, keys)) {
      for (const key of bound) {
        const other = known.get(key);
        if (other !== undefined && (own.includes(command) || own.includes(other))) {
          const free = own.includes(command) ? other : command;
          return `\`${key}\` would be both \`${other}\` and \`${command}\` on the screen ${screens[kind].name}. Give \`${free}\` another key, too.`;
        }
        known.set(key, command);
      }
    }
  }
  return null;
}
