import { commandFor, keyMapOf } from '../../../src/tui/screens/key-map.js';
import type { KeyPreset } from '../../../src/tui/state/preferences-port.js';

const codes: Record<string, string> = {
  ...{ up: '\u001b[A', down: '\u001b[B', right: '\u001b[C', left: '\u001b[D', home: '\u001b[H', end: '\u001b[F' },
  ...{ pageup: '\u001b[5~', pagedown: '\u001b[6~', enter: '\r', tab: '\t', space: ' ', escape: '\u001b' },
};
/** A terminal that tells that it is in front: nobody asked, and it means nothing. */
const focusReport = '\u001b[I';

/** What a terminal sends for a key. */
export function codeOf(key: string): string {
  if (key.startsWith('ctrl-')) return String.fromCharCode(key.codePointAt(5)! - 0x60);
  return codes[key] ?? key;
}

/**
 * What a terminal sends for keys that are pressed one right after the other. Escape is the key only where no key follows
 * within some time; a report behind it says so at once.
 */
export function codesOf(keys: readonly string[], preset: KeyPreset): string {
  return keys
    .map((key) => {
      if (key.startsWith('"')) return key.slice(1);
      return key === 'escape' ? `${codeOf(key)}${focusReport}` : codeOf(inPreset(key, preset));
    })
    .join('');
}

/** The key that does in this preset what this one does in the default one. */
function inPreset(key: string, preset: KeyPreset): string {
  const command = commandFor(key, 'default');
  if (command === undefined || commandFor(key, preset) === command) return key;
  return keyMapOf(preset)
    .find((row) => row.command === command)!
    .keys.at(-1)!;
}
