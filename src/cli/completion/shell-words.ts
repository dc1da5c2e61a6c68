import { shellQuote } from '../../text/shell-words.js';
import type { TypedLine } from './command-line.js';

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
