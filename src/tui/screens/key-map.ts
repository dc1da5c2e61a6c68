import { type Binding, inPreset, type KeyRow } from '../keys/key-row.js';
import { screens } from './registry.js';
import type { Command } from '../state/command.js';
import { type KeyPreset, keyPresets } from '../state/preferences-port.js';
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

function bindings(rows: readonly KeyRow[], preset: KeyPreset): Bindings {
  const bound = rows.map((row) => inPreset(row, preset));
  // If two rows have the same key, the first one wins.
  const entries = bound.flatMap((row) => row.keys.map((key) => [key, row] as const)).reverse();
  return { rows: bound, byKey: new Map(entries) };
}

/** Each command once, as described by the first screen that has it. */
const allRows = uniqueCommands(kinds.flatMap(rowsOf));

const perScreen = byPreset((preset) => new Map(kinds.map((kind) => [kind, bindings(rowsOf(kind), preset)] as const)));
const all = byPreset((preset) => bindings(allRows, preset));

/** The keys of a screen in a preset, its own first. */
export function keysOn(screen: ScreenKind, preset: KeyPreset): readonly Binding[] {
  return perScreen[preset].get(screen)!.rows;
}

/** The binding of a key on a screen; undefined: none. */
export function bindingFor(screen: ScreenKind, key: string, preset: KeyPreset): Binding | undefined {
  return perScreen[preset].get(screen)!.byKey.get(key);
}

/** Every command with its key. */
export function keyMapOf(preset: KeyPreset): readonly Binding[] {
  return all[preset].rows;
}

/** The command of a key on the list, or else on the first screen that has it; undefined for an unbound key. */
export function commandFor(key: string, preset: KeyPreset = 'default'): Command | undefined {
  return elsewhere(key, preset)?.command;
}

/** The binding of a key on the first screen that has it. */
export function elsewhere(key: string, preset: KeyPreset): Binding | undefined {
  return all[preset].byKey.get(key);
}

/** How the key of a command is shown to the user. */
export function keyOf(command: Command, preset: KeyPreset): string {
  return all[preset].rows.find((binding) => binding.command === command)!.shown;
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
  const rows = [...meanings.values()].map(({ row: { shown, vim, help }, on }) => {
    const where = on.length === kinds.length ? 'everywhere' : on.map((kind) => screens[kind].name).join(', ');
    return `| ${code(shown)} | ${vim ? code(vim.shown) : ''} | ${where} | ${help} |`;
  });
  return ['| key | in the vim preset | on | does |', '| --- | --- | --- | --- |', ...rows].join('\n');
}

function byPreset<Value>(make: (preset: KeyPreset) => Value): Record<KeyPreset, Value> {
  return Object.fromEntries(keyPresets.map((preset) => [preset, make(preset)])) as Record<KeyPreset, Value>;
}
