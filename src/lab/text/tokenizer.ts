import { UserError } from '../../base/user-error.js';

/** A Jinja program that writes a conversation. `beginning`, `ending`: the tokenizer's `bos_token` and `eos_token`. */
export type ChatTemplate = {
  readonly text: string;
  readonly beginning: string | null;
  readonly ending: string | null;
};

/** Text to token ids and back. */
export type Tokenizer = {
  /** Kind of the tokenizer in messages: `memory`, or the kind of model in a `tokenizer.json`, such as `WordPiece`. */
  readonly kind: string;
  /** Largest id plus one. */
  readonly size: number;
  /** Id of the token that ends a text or an answer; null when the vocabulary has none. */
  readonly end: number | null;
  /** The template in which its model expects conversations. */
  readonly chatTemplate?: ChatTemplate;
  /** Ids of this text alone. @throws UserError when the vocabulary cannot write it. */
  encode(text: string): number[];
  /** Ids of the text with the special tokens before and after it that a model of this vocabulary was trained with. */
  encodeWhole(text: string): number[];
  /** The text of all tokens. An unknown id becomes nothing or �, depending on the vocabulary's programs. */
  decode(ids: Iterable<number>): string;
  /** The text without special tokens. */
  decodePlain(ids: Iterable<number>): string;
  /** The id of one token. @throws UserError when there is no such token. */
  id(token: string): number;
  /** The token of an id; undefined when it has none. */
  token(id: number): string | undefined;
};

/** Whether a tokenizer has all tokens of another, under their ids. */
export function hasTokensOf(tokenizer: Tokenizer, other: Tokenizer): boolean {
  const ids = Array.from({ length: other.size }, (_, id) => id);
  return ids.every((id) => other.token(id) === undefined || tokenizer.token(id) === other.token(id));
}

/**
 * Tokens that end an answer: the end of a text, and those texts in `stop` that are one special token, which decoded
 * plain text does not show.
 */
export function endingsOf(stop: readonly string[], tokenizer: Tokenizer): Set<number> {
  const special = stop.flatMap((text) => specialToken(text, tokenizer));
  return new Set([...(tokenizer.end === null ? [] : [tokenizer.end]), ...special]);
}

function specialToken(text: string, tokenizer: Tokenizer): number[] {
  try {
    const ids = tokenizer.encode(text);
    return ids.length === 1 && tokenizer.decodePlain(ids) === '' ? ids : [];
  } catch {
    // A text that the vocabulary cannot write is never generated.
    return [];
  }
}

/** A vocabulary of whole texts. `tokens`: the text of each, by id; no empty ones, no two alike. */
type Vocabulary = {
  readonly tokens: readonly string[];
  /** First token of every sequence; not part of the text. */
  readonly beginning: string;
  readonly ending: string;
};

/** A tokenizer that always takes the longest matching token. */
export function createTokenizer({ tokens, beginning, ending }: Vocabulary): Tokenizer {
  const ids = new Map(tokens.map((token, id) => [token, id]));
  const byStart = longestFirst(tokens);
  const encode = (text: string) => {
    const found: number[] = [];
    for (let at = 0; at < text.length;) {
      const token = byStart.get(text[at]!)?.find((candidate) => text.startsWith(candidate, at));
      if (token === undefined) throw cannotWrite(text, at);
      found.push(ids.get(token)!);
      at += token.length;
    }
    return found;
  };
  /** @param without An id that is left out. */
  const written = (sequence: Iterable<number>, without = -1) => {
    let text = '';
    for (const id of sequence) if (id !== without) text += tokens[id] ?? '\uFFFD';
    return text;
  };
  const id = (token: string) => {
    const found = ids.get(token);
    if (found === undefined) throw cannotWrite(token, 0);
    return found;
  };
  const begin = id(beginning);
  return {
    kind: 'memory',
    size: tokens.length,
    end: id(ending),
    encode,
    encodeWhole: (text) => [begin, ...encode(text)],
    decode: (sequence) => written(sequence),
    decodePlain: (sequence) => written(sequence, begin),
    id,
    token: (each) => tokens[each],
  };
}

function longestFirst(tokens: readonly string[]): Map<string, string[]> {
  const byStart = new Map<string, string[]>();
  for (const token of [...tokens].sort((a, b) => b.length - a.length)) {
    byStart.set(token[0]!, [...(byStart.get(token[0]!) ?? []), token]);
  }
  return byStart;
}

function cannotWrite(text: string, at: number): UserError {
  return new UserError(
    `The vocabulary of the memory game has no token for ${JSON.stringify(text.slice(at, at + 30))} (at character ${at} of ${JSON.stringify(shorten(text))}).`,
    'Use only the prompts of the memory game, and answers made of digits.',
  );
}

function shorten(text: string): string {
  return text.length <= 60 ? text : `${text.slice(0, 60)}…`;
}
