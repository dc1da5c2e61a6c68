import { graphemes } from '../../text/display-width.js';

/** A line of text being typed. `at`: UTF-16 units before the cursor; never within a grapheme. */
export type EditedLine = { readonly text: string; readonly at: number };

export const emptyLine: EditedLine = { text: '', at: 0 };

/** A line with the cursor at its end. */
export function lineOf(text: string): EditedLine {
  return { text, at: text.length };
}

/**
 * The line after a key, named as `keyNames` does; null if the key does not edit text and is left to the caller.
 *
 * A key without effect (← at the start) returns the line unchanged. Keys are those of readline.
 */
export function editLine(line: EditedLine, key: string): EditedLine | null {
  const edit = edits[key];
  if (edit !== undefined) return edit(line);
  const typed = key === 'space' ? ' ' : key;
  return isOneCharacter(typed) ? insert(line, typed) : null;
}

/** Replaces the part of the line from `from` to the cursor; the cursor ends up behind the replacement. */
export function replaceBeforeCursor({ text, at }: EditedLine, from: number, by: string): EditedLine {
  return { text: text.slice(0, from) + by + text.slice(at), at: from + by.length };
}

type Edit = (line: EditedLine) => EditedLine;

const toStart: Edit = (line) => ({ ...line, at: 0 });
const toEnd: Edit = ({ text }) => lineOf(text);
const left: Edit = (line) => ({ ...line, at: before(line) });
const right: Edit = (line) => ({ ...line, at: after(line) });
const eraseBack: Edit = (line) => replaceBeforeCursor(line, before(line), '');
const eraseOn: Edit = (line) =>
  snapped({ text: line.text.slice(0, line.at) + line.text.slice(after(line)), at: line.at });

const edits: Readonly<Record<string, Edit>> = {
  left,
  right,
  home: toStart,
  end: toEnd,
  backspace: eraseBack,
  delete: eraseOn,
  'ctrl-a': toStart,
  'ctrl-e': toEnd,
  'ctrl-b': left,
  'ctrl-f': right,
  'ctrl-h': eraseBack,
  'ctrl-d': eraseOn,
  'ctrl-u': (line) => replaceBeforeCursor(line, 0, ''),
  'ctrl-k': ({ text, at }) => lineOf(text.slice(0, at)),
  'ctrl-w': (line) => replaceBeforeCursor(line, line.text.slice(0, line.at).search(/\S*\s*$/), ''),
};

/** Inserts text. Pasted characters come one by one, so an accent may combine with the letter before it. */
function insert(line: EditedLine, typed: string): EditedLine {
  return snapped(replaceBeforeCursor(line, line.at, typed));
}

/** Moves the cursor behind a grapheme that an edit may have formed around it. */
function snapped({ text, at }: EditedLine): EditedLine {
  return { text, at: bounds(text).find((bound) => bound >= at) ?? text.length };
}

function before({ text, at }: EditedLine): number {
  return bounds(text).findLast((bound) => bound < at) ?? 0;
}

function after({ text, at }: EditedLine): number {
  return bounds(text).find((bound) => bound > at) ?? text.length;
}

/** The possible positions of the cursor. */
function bounds(text: string): number[] {
  return [...[...graphemes(text)].map(({ index }) => index), text.length];
}

function isOneCharacter(key: string): boolean {
  const [character, ...others] = key;
  return character !== undefined && others.length === 0 && !/^[\p{Cc}\p{Cs}]$/u.test(character);
}
