import { type Binding, inMapping, type KeyRow } from '../keys/key-row.js';
import { mappedKeys, shownKey } from '../keys/key-mapping.js';
import { screens } from './registry.js';
import type { Command } from '../state/command.js';
import type { KeyMapping } from '../state/preferences-port.js';
import type { ScreenKind } from '../state/ui-state.js';
import { windowKeys } from './window-keys.js';

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
