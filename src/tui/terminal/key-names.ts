import type { Key } from 'ink';

const named: readonly (readonly [keyof Key, string])[] = [
  ['upArrow', 'up'],
  ['downArrow', 'down'],
  ['leftArrow', 'left'],
  ['rightArrow', 'right'],
  ['pageUp', 'pageup'],
  ['pageDown', 'pagedown'],
  ['home', 'home'],
  ['end', 'end'],
  ['return', 'enter'],
  ['escape', 'escape'],
  // Ink 6 takes the byte that most terminals send for backspace as delete.
  ['backspace', 'backspace'],
  ['delete', 'backspace'],
  ['tab', 'tab'],
];

/** Names of the keys in what Ink hands on: several when they came in one read, as in a paste or over a slow line. */
export function keyNames(input: string, key: Key): string[] {
  const special = named.find(([flag]) => key[flag] === true);
  if (special !== undefined) return [special[1]];
  if (key.ctrl) return [`ctrl-${input}`];
  return [...input].map(characterName).filter((name) => name !== '');
}

/** The name of the key that sends a character; empty where none does. */
export function characterName(character: string): string {
  const code = character.codePointAt(0)!;
  if (character === ' ') return 'space';
  if (character === '\t') return 'tab';
  if (character === '\r' || character === '\n') return 'enter';
  if (code === 0x7f || code === 0x08) return 'backspace';
  if (code > 0 && code < 0x1b) return `ctrl-${String.fromCharCode(code + 0x60)}`;
  return code < 0x20 ? '' : character;
}
