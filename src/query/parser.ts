import { assertNever } from '../base/assert-never.js';
import { UserError } from '../base/user-error.js';
import { shortened } from '../text/display-text.js';
import { didYouMean } from '../text/nearest.js';
import { allOf, anyOf, type Operator, type QueryProblem, QueryRefusal, type RunQuery } from './query.js';
import { type Piece, QueryText } from './text.js';
import { everyRun, type Fact, factNames, type Field, fieldNames, fields, isFact, isField } from './words.js';

/** Limit on nesting, deeper than anyone needs, so that recursion does not exhaust the stack. */
const DEEPEST = 200;

/** Parses a list of tokens into a tree: `or` of `and` of `not` of terms. Throws a QueryRefusal. */
function parseTokens(tokens: readonly Token[]): RunQuery {
  if (tokens[0]!.type === 'end') return allOf([]);
  const parser = new Parser(tokens);
  const query = parser.either(0);
  parser.expectEnd();
  return query;
}

/** Recursive-descent parser over the tokens. `depth`: number of parentheses and negations around the current place. */
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
      throw new QueryRefusal('this is nested too deeply.', 'Remove some of the parentheses.', token.at);
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
      throw new QueryRefusal('this parenthesis is not closed.', 'Add the missing ).', openedAt);
    }
    this.#next += 1;
    return query;
  }
}

const termExample =
  'Write a part of a name, status:failed or N>=64; the words and, or, not go in quotes to be part of a name.';

/**
 * The language in which runs are chosen, the same in the window and on the command line.
 *
 *   abcd                     the sweep or the group of that name, if there is one; see `bare-words.ts`
 *   dense                    else "dense" is a part of the name, or of the error of a failed run (`*` stands for anything)
 *   status:failed,lost       one of these, or a word with this beginning; also group: subgroup: sweep: name: slot: gpu: class: health:
 *   error:"shape mismatch"   a part of the error of a failed run
 *   tag:good  is:starred     the user's annotation of the run; note:"too high" is a part of the note
 *   N>=256  lr=1e-3  k!=v    a parameter, or else the last value of a metric, compared
 *   attempt>1  age>2h        facts of every run: attempt, age (since its start), priority, progress (0 to 1)
 *   not x   !x               the runs that x does not select
 *   x y   x and y            both; binds closer than `or`
 *   x or y   (x y)           either; parentheses group
 *   all                      every run
 *   "two words"              quotes keep blanks and signs: subgroup:"two words", "my key">3, "or", "all"
 *
 * Pure: text in, a tree out. `match.ts` tests runs with it, `check.ts` compares it with the names that exist.
 */

/** Length limit in characters, more than anyone types; a program can pass names of runs as separate words of the command line. */
const LONGEST = 10_000;

/** Parses a query; returns the problem where it is invalid. */
export function readRunQuery(text: string): RunQuery | QueryProblem {
  if (text.length > LONGEST) return tooLong(text);
  try {
    return parseTokens(tokensOf(text));
  } catch (error) {
    if (!(error instanceof QueryRefusal)) throw error;
    return { kind: 'problem', problem: error.message, fix: error.fix, at: error.at };
  }
}

function tooLong({ length }: string): QueryProblem {
  const problem = `it has ${length} characters; the limit is ${LONGEST}.`;
  return { kind: 'problem', problem, fix: 'Shorten it: `*` in a name matches anything.', at: LONGEST };
}

/**
 * Parses a query that must be valid.
 *
 * @throws {UserError} Where it is invalid, with the place and an example.
 */
export function parseRunQuery(text: string): RunQuery {
  const query = readRunQuery(text);
  if (query.kind !== 'problem') return query;
  throw new UserError(
    `The query \`${shortened(text)}\` cannot be read, at character ${query.at + 1}: ${query.problem}`,
    query.fix,
  );
}

/** A sign, or a whole term; `at`: index of its first character. */
type Token =
  | { readonly type: 'open' | 'close' | 'not' | 'and' | 'or' | 'end'; readonly at: number }
  | { readonly type: 'term'; readonly query: RunQuery; readonly at: number };

/** Characters of a key or a bare word: no blank, parenthesis, quote or comparison; `!` only where no `=` follows. */
const keyCharacters = /(?:[^\s()"=<>!]|!(?!=))+/y;
/** Characters of a value: those of a key, and the comparison signs. */
const valueCharacters = /[^\s()"]+/y;
const operator = /\s*(?:!=|>=|<=|=|>|<)\s*/y;
const signs = { '(': 'open', ')': 'close', '!': 'not' } as const;
const words = { and: 'and', or: 'or', not: 'not' } as const;

/** Splits a query into tokens, the last of which is `end`. Throws a QueryRefusal. */
function tokensOf(text: string): Token[] {
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
  // An empty text is a part of every name: an unset variable of a shell must not select every run.
  if (text === '') throw new QueryRefusal('these quotes are empty.', `For every run use ${everyRun}.`, at);
  if (!quoted && word === everyRun) return { type: 'term', query: allOf([]), at };
  if (!quoted && Object.hasOwn(words, word)) return { type: words[word as keyof typeof words], at };
  return { type: 'term', query: { kind: 'word', text }, at };
}

/** `status:failed,lost`. Throws a QueryRefusal. */
function fieldTerm(name: string, value: Piece, at: number): RunQuery {
  const field = name.toLowerCase();
  if (!isField(field)) {
    const hint = `${didYouMean(field, fieldNames)} A name that holds a colon goes in quotes.`;
    throw new QueryRefusal(`there is no field ${name}:.`, hint, at);
  }
  const choices = value.choices.filter((choice) => choice !== '').map((choice) => presentWord(field, choice));
  if (choices.length === 0) {
    const example = `Write for example ${field}:${fields[field].example}.`;
    throw new QueryRefusal(`${field}: needs a value.`, example, value.at);
  }
  refuseUnknown(field, choices, value.at);
  return { kind: 'field', field, choices };
}

/** The present equivalent of an older word or of its beginning; any other word as it is. */
function presentWord(field: Field, choice: string): string {
  const { words, former = {} } = fields[field];
  const begins = (word: string) => word.startsWith(choice.toLowerCase());
  if (words === null || words.some(begins)) return choice;
  return Object.entries(former).find(([word]) => begins(word))?.[1] ?? choice;
}

function refuseUnknown(field: Field, choices: readonly string[], at: number): void {
  const { words } = fields[field];
  if (words === null) return;
  const unknown = choices.find((choice) => !words.some((word) => word.startsWith(choice.toLowerCase())));
  if (unknown === undefined) return;
  throw new QueryRefusal(`there is no ${field} "${unknown}".`, didYouMean(unknown, words), at);
}

/** Parses `N>=256`, `age>2h`. Throws a QueryRefusal. A quoted key is a parameter or a metric, even if a fact has that name. */
function comparison(key: Piece, sign: string, value: Piece): RunQuery {
  const operator = sign as Operator;
  if (value.text === '' && !value.quoted) {
    const example = `Write for example ${key.text}${sign}${key.text === 'age' ? '2h' : '64'}.`;
    throw new QueryRefusal(`${key.text}${sign} needs a value.`, example, value.at);
  }
  if (!key.quoted && isFact(key.text)) {
    return { kind: 'fact', fact: key.text, operator, value: factValue(key.text, sign, value) };
  }
  const isOrder = operator !== '=' && operator !== '!=';
  if (isOrder && numberOf(value.text) === null) {
    const fix = `Write for example ${key.text}${sign}64; texts are compared with = and !=.`;
    throw new QueryRefusal(`${key.text}${sign}${value.text} needs a number after ${sign}.`, fix, value.at);
  }
  return { kind: 'value', key: key.text, operator, value: value.text };
}

const unitSeconds: Record<string, number> = { '': 1, s: 1, m: 60, min: 60, h: 3600, d: 86_400 };

function factValue(fact: Fact, sign: string, { text, at }: Piece): number {
  const [, digits, unit] = /^(.*?)([a-z]*)$/i.exec(text.trim()) ?? [];
  const scale = fact === 'age' ? unitSeconds[unit!] : 1;
  const value = numberOf(fact === 'age' ? digits! : text);
  if (value !== null && scale !== undefined) return value * scale;
  const wanted = fact === 'age' ? 'a time, such as 90s, 30m, 2h or 1d,' : 'a number';
  const problem = `${fact}${sign}${text} needs ${wanted} after ${sign}.`;
  throw new QueryRefusal(problem, `Known are ${factNames.join(', ')}; "${fact}" in quotes is a parameter.`, at);
}

/** Parses a number in any usual notation; null for anything else, also for an empty text. */
export function numberOf(text: string): number | null {
  const value = Number(text.replace(/^([-+]?)inf$/i, '$1Infinity'));
  return text.trim() === '' || Number.isNaN(value) ? null : value;
}

/**
 * A text that is being typed is parsed at each key, but only up to this length; a longer one, which was pasted, is parsed when it
 * is entered.
 */
export const LONGEST_TYPED = 2000;
/** Number of words at the end that are dropped, at most, in search of a valid query. */
const MOST_DROPPED = 50;

const lastWord = /(?:"(?:[^"\\]|\\[^])*(?:"|$)|[^\s"])+\s*$/;

/**
 * The part of an unfinished query that can be applied already: without words at its end that are invalid so far, or may still
 * become a field. May be empty.
 */
export function finishedPart(text: string): string {
  if (text.length > LONGEST_TYPED) return '';
  let part = text;
  for (let dropped = 0; part.trim() !== '' && dropped < MOST_DROPPED; dropped += 1) {
    const [last] = lastWord.exec(part) ?? [part];
    const word = last.replace(/^[!(]+/, '').toLowerCase();
    const isOpen = /\S$/.test(last) && fieldNames.some((field) => field.startsWith(word));
    if (!isOpen && readRunQuery(part).kind !== 'problem') return part;
    part = part.slice(0, part.length - last.length);
  }
  return '';
}
