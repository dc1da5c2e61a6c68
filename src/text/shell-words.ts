/** The words of a command line without their quotes, or why it cannot be run without a shell. */
type ShellWords =
  | { kind: 'words'; words: { text: string; quoted: boolean }[] }
  | { kind: 'refused'; at: number; why: string };

/** Characters without a meaning to a POSIX shell. */
const plain = /^[A-Za-z0-9_@%+=:,./-]+$/;
const operators: Record<string, string> = {
  '|': 'a pipe',
  '&': '`&`',
  ';': '`;`',
  '<': 'a redirection',
  '>': 'a redirection',
  '(': 'a subshell',
  ')': 'a subshell',
  '`': 'a command substitution',
  $: 'a variable',
  '*': 'a pattern',
  '?': 'a pattern',
  '[': 'a pattern',
};

/** A list of arguments as one line that a POSIX shell reads back as the same list. */
export function shellQuote(argv: readonly string[]): string {
  return argv.map((word) => (plain.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`)).join(' ');
}

/**
 * Splits a line as a POSIX shell does: blanks, '…', "…", backslash, # comments. Anything else that a shell would interpret (pipes,
 * variables, patterns) is refused, so that a line never has another meaning here than in a shell.
 */
export function shellWords(line: string): ShellWords {
  const words: { text: string; quoted: boolean }[] = [];
  let at = 0;
  while (at < line.length) {
    const blank = /\s/.test(line[at]!);
    if (line[at] === '#') break;
    if (!blank) {
      const word = readWord(line, at);
      if ('why' in word) return { kind: 'refused', ...word };
      words.push({ text: word.text, quoted: word.quoted });
      at = word.end;
    } else at += 1;
  }
  return { kind: 'words', words };
}

type Piece = { text: string; end: number } | { at: number; why: string };

function readWord(
  line: string,
  start: number,
): { text: string; quoted: boolean; end: number } | { at: number; why: string } {
  let text = '';
  let quoted = false;
  let at = start;
  while (at < line.length && !/\s/.test(line[at]!)) {
    const piece = readPiece(line, at);
    if ('why' in piece) return piece;
    quoted ||= `'"\\`.includes(line[at]!);
    text += piece.text;
    at = piece.end;
  }
  if (!quoted && text.startsWith('~')) return { at: start, why: '`~` (a home folder)' };
  return { text, quoted, end: at };
}

function readPiece(line: string, at: number): Piece {
  const character = line[at]!;
  if (character === "'") return untilQuote(line, at);
  if (character === '"') return untilDoubleQuote(line, at);
  if (character === '\\') {
    return at + 1 < line.length
      ? { text: line[at + 1]!, end: at + 2 }
      : { at, why: 'a backslash at the end of the line' };
  }
  const operator = operators[character];
  return operator === undefined ? { text: character, end: at + 1 } : { at, why: operator };
}

function untilQuote(line: string, at: number): Piece {
  const close = line.indexOf("'", at + 1);
  return close < 0 ? { at, why: 'a quote that is not closed' } : { text: line.slice(at + 1, close), end: close + 1 };
}

function untilDoubleQuote(line: string, start: number): Piece {
  let text = '';
  for (let at = start + 1; at < line.length; at += 1) {
    const character = line[at]!;
    if (character === '"') return { text, end: at + 1 };
    if (character === '$' || character === '`') return { at, why: operators[character]! };
    const escapes = character === '\\' && '"\\$`'.includes(line[at + 1] ?? ' ');
    if (escapes) at += 1;
    text += line[at]!;
  }
  return { at: start, why: 'a quote that is not closed' };
}
