import { plainWord } from '../sweep-text.js';

/** A piece of a text: itself, a parameter of the sweep, or a variable of the environment of whoever launches it. */
export type Piece = string | { readonly parameter: string; readonly text: string } | { readonly environment: string };

/** What a variable or a word stands for at one point of the loops. */
export type Text = {
  /** What the shell would have; a variable of the environment is a placeholder in it. */
  readonly text: string;
  /** The same with the parameters that it is made of; null: it depends on them in another way. */
  readonly pieces: readonly Piece[] | null;
};

/** A variable: a text, or a list of texts. */
export type Variable = Text | readonly Text[];

export function isList(variable: Variable): variable is readonly Text[] {
  return Array.isArray(variable);
}

export function plainText(text: string): Text {
  return { text, pieces: text === '' ? [] : [text] };
}

/** Whether a text depends on a parameter. */
export function varies({ pieces }: Text): boolean {
  return pieces === null || pieces.some((piece) => typeof piece === 'object' && 'parameter' in piece);
}

export function joined(texts: readonly Text[]): Text {
  const isKnown = texts.every(({ pieces }) => pieces !== null);
  return {
    text: texts.map(({ text }) => text).join(''),
    pieces: isKnown ? mergedPieces(texts.flatMap(({ pieces }) => pieces ?? [])) : null,
  };
}

function mergedPieces(pieces: readonly Piece[]): Piece[] {
  return pieces.reduce<Piece[]>((all, piece) => {
    const last = all.at(-1);
    if (typeof piece === 'string' && typeof last === 'string') all[all.length - 1] = last + piece;
    else all.push(piece);
    return all;
  }, []);
}

/** Words joined by blanks. */
export function lineOf(words: readonly Text[]): Text {
  return joined(words.flatMap((word, index) => (index === 0 ? [word] : [plainText(' '), word])));
}

/** Brackets around a variable of the environment in a text. Private-use characters, which nobody types. */
export const [ENV_OPEN, ENV_CLOSE] = ['\ue000', '\ue001'];

export function environmentText(name: string): Text {
  return { text: `${ENV_OPEN}${name}${ENV_CLOSE}`, pieces: [{ environment: name }] };
}

/** A text as a word of a sweep file's command. */
export function wordOf(pieces: readonly Piece[]): string {
  return pieces
    .map((piece) => {
      if (typeof piece === 'string') return plainWord(piece);
      return 'parameter' in piece ? `\${${piece.parameter}}` : `\${envvar:${piece.environment}}`;
    })
    .join('');
}
