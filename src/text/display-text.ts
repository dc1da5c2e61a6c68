/** Escape sequences: CSI, OSC and other strings up to their end or the line's, character sets, and the two-byte ones. */
const escapes =
  /(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]?|(?:\x1b[\]PX^_]|[\x9d\x90\x98\x9e\x9f])[^\x07\x1b\x9c\n]*(?:\x07|\x1b\\|\x9c)?|\x1b[ -/]*[0-~]?/g;
/** Characters that would move the cursor or reorder the text: other controls, bidirectional overrides, lone surrogates, BOM. */
const unsafe = /[\x00-\x08\x0a-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]|\p{Surrogate}/gu;
/** The same characters, but without newlines. */
const unsafeInLines = /[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]|\p{Surrogate}/gu;
const harmlessLines = /^[\t\n\x20-\x7e]*$/;
const TAB = 8;

/**
 * Foreign text made safe to draw in one line of a terminal: what a carriage return would have overwritten is dropped
 * (of a progress bar the last state is left), escape sequences and control characters are removed, tabs become spaces.
 */
export function displayText(line: string): string {
  const text = afterLastReturn(line.replace(escapes, '')).replace(unsafe, '');
  return text.includes('\t') ? expandTabs(text) : text;
}

/**
 * Text of any origin made safe to print on a terminal: escape sequences and control characters are removed; lines and tabs stay.
 */
export function terminalText(text: string): string {
  return harmlessLines.test(text) ? text : text.replace(escapes, '').replace(unsafeInLines, '');
}

/** A text on one line, for a comment in a file: control characters and separators of lines become spaces. */
export function commentText(text: string): string {
  return text.replace(/[\p{Cc}\u2028\u2029\ufffd]+/gu, ' ');
}

/** Equivalent JSON without characters that control a terminal, of which `JSON.stringify` escapes only some. */
export function terminalJson(json: string): string {
  return json.replace(unsafeInLines, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

function afterLastReturn(line: string): string {
  if (!line.includes('\r')) return line;
  return line.split('\r').findLast((part) => part.trim() !== '') ?? '';
}

function expandTabs(text: string): string {
  return text.split('\t').reduce((line, part) => line + ' '.repeat(TAB - (line.length % TAB)) + part);
}

const harmless = /^[\u0020-\u007e]*$/;

/** Text of any origin as a part of one line: without escape sequences, its own lines joined by spaces. */
export function lineText(text: string): string {
  return harmless.test(text) ? text : displayText(text.replace(/[\r\n]+/g, ' '));
}

/** Text of any origin as one line, as in `lineText`, without white space around it. */
export function cleanText(text: string): string {
  return harmless.test(text) ? text : lineText(text.trim());
}

/** Length limit of a quoted text, in characters. */
const MOST = 120;

/** The beginning of a text that a user or a program gave, to be quoted in a message. */
export function shortened(text: string, most = MOST): string {
  return text.length <= most ? text : `${text.slice(0, most - 1)}…`;
}
