import type { RunQuery } from './reading.js';
import { QueryRefusal } from './refusal.js';
import { allOf } from './query.js';
import { comparison, fieldTerm } from './term.js';
import { type Piece, QueryText } from './text.js';
import { everyRun } from './words.js';

/** A sign, or a whole term; `at`: where it begins. */
export type Token =
  | { readonly type: 'open' | 'close' | 'not' | 'and' | 'or' | 'end'; readonly at: number }
  | { readonly type: 'term'; readonly query: RunQuery; readonly at: number };

/** Of a key or a bare word: no blank, parenthesis, quote or comparison; `!` only where no `=` follows. */
const keyCharacters = /(?:[^\s()"=<>!]|!(?!=))+/y;
/** Of a value: what a key has, and the signs of comparison. */
const valueCharacters = /[^\s()"]+/y;
const operator = /\s*(?:!=|>=|<=|=|>|<)\s*/y;
const signs = { '(': 'open', ')': 'close', '!': 'not' } as const;
const words = { and: 'and', or: 'or', not: 'not' } as const;

/** The tokens of a query, ended by `end`. Throws a QueryRefusal. */
export function tokensOf(text: string): Token[] {
  const source = new QueryText(text);
  const tokens: Token[] = [];
  for (;;) {
    source.take(/\s*/y);
    const token = source.at < text.length ? nextToken(source) : ({ type: 'end', at: source.at } as const);
    tokens.push(token);
    if (token.type === 'end') return tokens;
  }
}

function nextToken(source: QueryText): Token {
  const { at } = source;
  const sign = source.take(/[()]|!(?!=)/y);
  if (sign !== null) return { type: signs[sign as keyof typeof signs], at };
  const field = source.take(/[a-z]+:/iy);
  if (field !== null) {
    return { type: 'term', query: fieldTerm(field.slice(0, -1), source.piece(valueCharacters), at), at };
  }
  const word = source.piece(keyCharacters);
  const compared = source.take(operator)?.trim();
  if (compared !== undefined) {
    if (word.text === '') {
      throw new QueryRefusal(
        `something to compare is missing before ${compared}.`,
        `Write for example N${compared}64.`,
        at,
      );
    }
    return { type: 'term', query: comparison(word, compared, source.piece(valueCharacters)), at };
  }
  return wordToken(word);
}

function wordToken({ text, quoted, at }: Piece): Token {
  const word = text.toLowerCase();
  // Every name has nothing in it: an unset variable of a shell must not choose every run.
  if (text === '') throw new QueryRefusal('these quotes hold nothing.', `For every run write ${everyRun}.`, at);
  if (!quoted && word === everyRun) return { type: 'term', query: allOf([]), at };
  if (!quoted && Object.hasOwn(words, word)) return { type: words[word as keyof typeof words], at };
  return { type: 'term', query: { kind: 'name', text }, at };
}
