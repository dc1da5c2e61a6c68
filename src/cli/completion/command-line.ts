import { shellQuote } from '../../text/shell-words.js';

/** The words of a line up to the cursor, as a shell would see them. */
export type TypedLine = {
  /** Finished words, quotes resolved; the program first. */
  readonly words: readonly string[];
  /** The word at the cursor, quotes resolved; empty after a blank. */
  readonly current: string;
  /** The quote that is open at the cursor; null: none. */
  readonly quote: '"' | "'" | null;
};

/** A backslash and what it protects, a quoted text that may still be open, blanks, or anything else. */
const pieces = /\\[^]?|'[^']*(?:'|$)|"(?:[^"\\]|\\[^])*(?:"|\\?$)|\s+|[^\s'"\\]+/g;

/** Splits what was typed before the cursor. Takes anything: nobody has finished it. */
export function typedLine(line: string): TypedLine {
  const words: string[] = [];
  let current = '';
  let quote: TypedLine['quote'] = null;
  for (const [piece] of line.matchAll(pieces)) {
    if (/^\s/.test(piece)) {
      if (current !== '') words.push(current);
      current = '';
    } else current += meaning(piece);
    quote = openQuote(piece);
  }
  return { words, current, quote };
}

function meaning(piece: string): string {
  if (piece.startsWith("'")) return piece.replaceAll("'", '');
  const inside = piece.startsWith('"') ? piece.slice(1, openQuote(piece) === null ? -1 : undefined) : piece;
  return inside.replace(/\\([^]?)/g, '$1');
}

function openQuote(piece: string): TypedLine['quote'] {
  if (/^'[^']*$/.test(piece)) return "'";
  return /^"(?:[^"\\]|\\[^])*\\?$/.test(piece) ? '"' : null;
}

/** Where bash begins a new word for completion, although it is none for the command. */
const bashBreak = /^.*[:=<>]/;

/**
 * Whole words as the shell wants to be told them, to put in place of what it takes for the word at the cursor. zsh and fish
 * quote by themselves; bash takes what it gets, and only what follows the last `:` or `=`.
 */
export function forShell(shell: string, words: readonly string[], { current, quote }: TypedLine): string[] {
  if (shell !== 'bash' || quote !== null) return [...words];
  const kept = bashBreak.exec(current)?.[0] ?? '';
  return words.filter((word) => word.startsWith(kept)).map((word) => quoted(word.slice(kept.length)));
}

function quoted(word: string): string {
  // A field that is still to be given its value has nothing to be quoted, and no shell minds a colon.
  return /^[\w:=.,/+@%*!-]*$/.test(word) ? word : shellQuote([word]);
}
