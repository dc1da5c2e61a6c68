import { didYouMean } from '../../text/nearest.js';
import { isKeyName, presetMappings } from '../keys/key-row.js';
import type { Command } from '../state/command.js';
import type { KeyBindings, KeyMapping, WindowPreferences } from '../state/preferences-port.js';
import type { ScreenKind } from '../state/ui-state.js';
import { keyMapOf, keysOn } from './key-map.js';
import { screens } from './registry.js';

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
