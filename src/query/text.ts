import { isMapValue, type ParameterValue } from '../base/scalar.js';
import { QueryRefusal, type RunQuery } from './query.js';
import { everyRun, isFact } from './words.js';

/** A part of a query between blanks and signs, without its quotes. */
export type Piece = {
  readonly text: string;
  /** The text split at the commas outside quotes. */
  readonly choices: readonly string[];
  /** Whether any of it was quoted. */
  readonly quoted: boolean;
  readonly at: number;
};

/** Reads a query from left to right, one piece at a time. */
export class QueryText {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  get at(): number {
    return this.#at;
  }

  /** Consumes what the (sticky) pattern matches here; null, and nothing consumed, when it does not match. */
  take(pattern: RegExp): string | null {
    pattern.lastIndex = this.#at;
    const match = pattern.exec(this.#text);
    if (match === null) return null;
    this.#at += match[0].length;
    return match[0];
  }

  /** Consumes quoted text, and unquoted characters of the given kind (sticky pattern), until something else comes. */
  piece(plain: RegExp): Piece {
    const at = this.#at;
    const choices = [''];
    let text = '';
    let quoted = false;
    for (;;) {
      const inQuotes = this.#quotedText();
      const part = inQuotes ?? this.take(plain);
      if (part === null || (inQuotes === null && part === '')) return { text, choices, quoted, at };
      const [first, ...more] = inQuotes === null ? part.split(',') : [part];
      choices.push(choices.pop()! + first!, ...more);
      text += part;
      quoted ||= inQuotes !== null;
    }
  }

  #quotedText(): string | null {
    const at = this.#at;
    if (this.#text[at] !== '"') return null;
    const quoted = this.take(/"(?:[^"\\]|\\[^])*"/y);
    if (quoted === null) throw new QueryRefusal('this quote is not closed.', 'Add the missing ".', at);
    return quoted.slice(1, -1).replace(/\\([^])/g, '$1');
  }
}

/** Quotes a text so that `piece` reads it unchanged. */
export function quote(text: string): string {
  return `"${text.replace(/["\\]/g, '\\$&')}"`;
}

/** A parameter's value as a query writes it: a list with commas between its items, a map as JSON. */
export function valueText(value: ParameterValue): string {
  if (Array.isArray(value)) return value.map(valueText).join(',');
  return isMapValue(value) ? JSON.stringify(value) : String(value);
}

/** The text of a query; parsing it gives the same tree. */
export function printRunQuery(query: RunQuery): string {
  switch (query.kind) {
    case 'all':
      return query.parts.length === 0 ? everyRun : query.parts.map((part) => inside(part, ['any'])).join(' ');
    case 'any':
      return query.parts.map((part) => printRunQuery(part)).join(' or ');
    case 'not':
      return `not ${inside(query.part, ['all', 'any'])}`;
    case 'word':
      return bare(query.text);
    case 'field':
      return `${query.field}:${query.choices.map(choiceText).join(',')}`;
    case 'fact':
      return `${query.fact}${query.operator}${query.value}`;
    default:
      return `${keyText(query.key)}${query.operator}${printedValue(query.value)}`;
  }
}

function inside(query: RunQuery, wrapped: readonly RunQuery['kind'][]): string {
  return wrapped.includes(query.kind) ? `(${printRunQuery(query)})` : printRunQuery(query);
}

const plainWord = /^[^\s()"=<>!:]+$/;
const plainValue = /^[^\s()"]+$/;
const signWord = new RegExp(`^(?:and|or|not|${everyRun})$`, 'i');

function bare(text: string): string {
  return plainWord.test(text) && !signWord.test(text) ? text : quote(text);
}

function keyText(key: string): string {
  return plainWord.test(key) && !isFact(key) ? key : quote(key);
}

function printedValue(value: string): string {
  // A value that begins with `=` would be read as a part of the sign before it.
  return plainValue.test(value) && !value.startsWith('=') ? value : quote(value);
}

function choiceText(choice: string): string {
  return plainValue.test(choice) && !choice.includes(',') ? choice : quote(choice);
}
