import { assertNever } from '../base/assert-never.js';
import type { RunQuery } from './reading.js';
import { QueryRefusal } from './refusal.js';
import { allOf, anyOf } from './query.js';
import type { Token } from './tokens.js';

/** Deeper than anyone means; a stack has an end. */
const DEEPEST = 200;

/** The tree of a list of tokens: `or` of `and` of `not` of terms. Throws a QueryRefusal. */
export function parseTokens(tokens: readonly Token[]): RunQuery {
  if (tokens[0]!.type === 'end') return allOf([]);
  const parser = new Parser(tokens);
  const query = parser.either(0);
  parser.expectEnd();
  return query;
}

/** Walks along the tokens. `depth`: of parentheses and negations around this place. */
class Parser {
  readonly #tokens: readonly Token[];
  #next = 0;

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens;
  }

  either(depth: number): RunQuery {
    const parts = [this.#both(depth)];
    while (this.#token.type === 'or') {
      this.#next += 1;
      parts.push(this.#both(depth));
    }
    return anyOf(parts);
  }

  expectEnd(): void {
    const { type, at } = this.#token;
    if (type !== 'end') throw new QueryRefusal('no parenthesis is open here.', 'Remove it, or quote it: ")".', at);
  }

  get #token(): Token {
    return this.#tokens[this.#next]!;
  }

  #both(depth: number): RunQuery {
    const parts = [this.#single(depth)];
    for (;;) {
      const { type } = this.#token;
      if (type === 'or' || type === 'close' || type === 'end') return allOf(parts);
      if (type === 'and') this.#next += 1;
      parts.push(this.#single(depth));
    }
  }

  #single(depth: number): RunQuery {
    const token = this.#token;
    if (depth > DEEPEST) {
      throw new QueryRefusal('this is nested too deeply.', 'Take some of the parentheses away.', token.at);
    }
    this.#next += 1;
    switch (token.type) {
      case 'term':
        return token.query;
      case 'not':
        return { kind: 'not', part: this.#single(depth + 1) };
      case 'open':
        return this.#inside(token.at, depth + 1);
      case 'end':
      case 'close':
      case 'and':
      case 'or':
        throw new QueryRefusal('a term is expected here.', termExample, token.at);
      default:
        return assertNever(token);
    }
  }

  #inside(openedAt: number, depth: number): RunQuery {
    const query = this.either(depth);
    if (this.#token.type !== 'close') {
      throw new QueryRefusal('this parenthesis is not closed.', 'Write another ) where it ends.', openedAt);
    }
    this.#next += 1;
    return query;
  }
}

const termExample =
  'Write a part of a name, status:failed or N>=64; the words and, or, not go in quotes to be part of a name.';
