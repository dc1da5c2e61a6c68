import { isMapValue, type ParameterValue } from '../base/scalar.js';
import { QueryRefusal } from './query.js';

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
