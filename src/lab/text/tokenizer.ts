import { UserError } from '../../base/user-error.js';

/** Text to token ids and back, by the longest token that fits. */
export type Tokenizer = {
  readonly size: number;
  /** Ids that write exactly this text. @throws UserError when the vocabulary cannot write it. */
  encode(text: string): number[];
  decode(ids: Iterable<number>): string;
  /** The id of one token. @throws UserError when there is no such token. */
  id(token: string): number;
};

/** @param tokens The text of each token, by id. No empty ones, no two alike. */
export function createTokenizer(tokens: readonly string[]): Tokenizer {
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
  const decode = (sequence: Iterable<number>) => {
    let text = '';
    for (const id of sequence) text += tokens[id] ?? '\uFFFD';
    return text;
  };
  const id = (token: string) => {
    const found = ids.get(token);
    if (found === undefined) throw cannotWrite(token, 0);
    return found;
  };
  return { size: tokens.length, encode, decode, id };
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
