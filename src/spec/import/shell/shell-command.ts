import { shellQuote, shellWords } from '../../../text/shell-words.js';
import type { Place } from '../../file/diagnostic.js';
import { type SlurmOption, slurmOptions } from '../slurm-keys.js';
import { parseScript } from './parse-script.js';
import { literalText, placedAt, ScriptMistake } from './script-node.js';
import { environmentText, joined, lineOf, type Piece, plainText, type Text } from './script-values.js';

/** What needs no quotes in a shell. */
const safe = /^[\w@%+=:,./-]+$/;

type Options = {
  readonly place: Place;
  /** The shell that gets the line. */
  readonly shell: 'sh' | 'bash';
  /** Whether values are put into quotes, as GNU parallel does; else they are pasted as they are. */
  readonly isQuoted: boolean;
};

/** Words that are joined and given to a shell: the words that the shell would start, where it needs no more than that. */
export function shellCommand(words: readonly Text[], { place, shell, isQuoted }: Options): Text[] {
  const line = lineOf(words);
  if (line.text.trim() === '') throw new ScriptMistake('there is no command here.', 'Add it.', place);
  const pieces = line.pieces ?? [line.text];
  const isSafe = pieces.every((piece) => !isParameter(piece) || safe.test(piece.text));
  const hasQuotes = pieces.some((piece) => typeof piece === 'string' && /['"]/.test(piece));
  const plain = isSafe || (isQuoted && !hasQuotes) ? wordsOf(pieces) : null;
  if (plain !== null) return plain;
  if (isSafe || !isQuoted) return [plainText(shell), plainText('-c'), line];
  if (!hasQuotes) return [plainText(shell), plainText('-c'), { text: pieces.map(quotedText).join(''), pieces: null }];
  throw new ScriptMistake(
    'values that need quotes stand beside quotes of the command.',
    'Write the commands out.',
    place,
  );
}

function quotedText(piece: Piece): string {
  if (typeof piece === 'string') return piece;
  return isParameter(piece) ? shellQuote([piece.text]) : `\${${piece.environment}}`;
}

function isParameter(piece: Piece): piece is Extract<Piece, { parameter: string }> {
  return typeof piece === 'object' && 'parameter' in piece;
}

/** The words of a line; null: it needs a shell. */
function wordsOf(pieces: readonly Piece[]): Text[] | null {
  // A private-use character for each parameter, so that it can be told from the text around.
  const marks = pieces.map((piece, index) =>
    typeof piece === 'string' ? piece : String.fromCodePoint(0xf0000 + index),
  );
  const read = shellWords(marks.join(''));
  return read.kind === 'words' ? withEnv(read.words.map(({ text }) => marked(text, pieces))) : null;
}

function withEnv(words: Text[]): Text[] {
  return /^[A-Za-z_]\w*=/.test(words[0]?.text ?? '') ? [plainText('env'), ...words] : words;
}

function marked(text: string, pieces: readonly Piece[]): Text {
  return joined(
    [...text].map((character): Text => {
      const piece = pieces[(character.codePointAt(0) ?? 0) - 0xf0000];
      if (piece === undefined || typeof piece === 'string') return plainText(character);
      return isParameter(piece) ? { text: piece.text, pieces: [piece] } : environmentText(piece.environment);
    }),
  );
}

/** The options in the `#SBATCH` lines of a script, which end with its first command. */
export function directives(text: string): SlurmOption[] {
  const all: SlurmOption[] = [];
  let start = 0;
  for (const [index, raw] of text.split('\n').entries()) {
    const line = raw.trim();
    if (line !== '' && !line.startsWith('#')) break;
    const [, said] = /^#SBATCH\s+(.*)$/.exec(line) ?? [];
    const place = { start, end: start + raw.length };
    const [node] = said === undefined ? [] : placedAt(place, () => parseScript(said.replace(/\s#.*$/, '')));
    const words = node?.kind === 'simple' ? node.words.map((word) => literalText(word) ?? '') : [];
    all.push(...slurmOptions(words, index + 1).options);
    start += raw.length + 1;
  }
  return all;
}
