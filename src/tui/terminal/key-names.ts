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
  // Ink 6 reports the byte that most terminals send for backspace as delete.
  ['backspace', 'backspace'],
  ['delete', 'backspace'],
  ['tab', 'tab'],
];

/** Names of the keys in Ink's input: several if they came in one read, as in a paste or over a slow line. */
export function keyNames(input: string, key: Key): string[] {
  const special = named.find(([flag]) => key[flag] === true);
  if (special !== undefined) return [special[1]];
  if (key.ctrl) return [`ctrl-${input}`];
  return [...input].map(characterName).filter((name) => name !== '');
}

/** The name of the key that sends a character; empty if there is none. */
export function characterName(character: string): string {
  const code = character.codePointAt(0)!;
  if (character === ' ') return 'space';
  if (character === '\t') return 'tab';
  if (character === '\r' || character === '\n') return 'enter';
  if (code === 0x7f || code === 0x08) return 'backspace';
  if (code > 0 && code < 0x1b) return `ctrl-${String.fromCharCode(code + 0x60)}`;
  return code < 0x20 ? '' : character;
}

/** Key names by code in kitty's keyboard protocol; a letter has the code of its lower case. */
const byCode: Record<number, string> = { 9: 'tab', 13: 'enter', 27: 'escape', 32: 'space', 127: 'backspace' };
/** Modifier bits; the protocol sends one more than their sum. */
const modifiers = { shift: 1, alt: 2, ctrl: 4 };
/** Code range for keys without a character (keypad, media keys, modifiers alone). */
const privateUse = [0xe000, 0xf8ff] as const;

/**
 * The name of an unambiguously reported key: `27` is Escape and nothing else, `105;5` is Ctrl-I and not Tab.
 *
 * @param parameters `code:alternatives;modifiers:event;text`, of kitty's keyboard protocol with flag 1 (no releases).
 */
export function unambiguousName(parameters: string): string | undefined {
  const [codes = '', modified = '1'] = parameters.split(';');
  const code = Number(codes.split(':')[0]);
  const bits = Number(modified.split(':')[0]) - 1;
  if (!isCharacter(code) || !(bits >= 0)) return undefined;
  const special = byCode[code];
  return special === undefined ? characterKey(String.fromCodePoint(code), bits) : specialKey(special, bits);
}

function specialKey(name: string, bits: number): string {
  if (name === 'escape') return name;
  if (name === 'tab' && (bits & modifiers.shift) !== 0) return 'shift-tab';
  return (bits & modifiers.alt) === 0 ? name : `alt-${name}`;
}

function characterKey(character: string, bits: number): string {
  if ((bits & modifiers.ctrl) !== 0) return `ctrl-${character}`;
  const name = (bits & modifiers.shift) === 0 ? character : character.toUpperCase();
  return (bits & modifiers.alt) === 0 ? name : `alt-${name}`;
}

function isCharacter(code: number): boolean {
  if (!Number.isInteger(code) || code <= 0 || code > 0x10ffff) return false;
  return code < privateUse[0] || code > privateUse[1];
}
