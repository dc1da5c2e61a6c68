import { valueOf } from '../csv.js';

/** Limit on the nesting of dicts in a row of metrics. */
const DEEPEST = 8;

/**
 * Parses the text that Python prints for a dict: `{'loss': 1.94, 'epoch': 0.3}`. A text that contains a number becomes one (newer
 * versions of Hugging Face's Trainer print `'1.942'`); `tensor(0.5, device='cuda:0')` and `np.float64(0.5)` become the number in
 * them.
 *
 * @returns Null: the text is not a dict.
 */
export function parsePythonDict(text: string): Record<string, unknown> | null {
  const reader = new DictReader(text);
  const value = reader.value(0);
  return reader.isAtEnd && typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : null;
}

/** The number in a quoted text, else the text itself: `'none'` is not a missing number. */
function numberOr(text: string): unknown {
  const value = valueOf(text);
  return typeof value === 'number' ? value : text;
}

/** Returned for text that cannot be parsed. */
const broken = Symbol('broken');

class DictReader {
  readonly #text: string;
  #at = 0;
  #isBroken = false;

  constructor(text: string) {
    this.#text = text;
  }

  get isAtEnd(): boolean {
    this.#skipSpace();
    return !this.#isBroken && this.#at === this.#text.length;
  }

  value(depth: number): unknown {
    this.#skipSpace();
    const sign = this.#text[this.#at];
    if (depth > DEEPEST || sign === undefined) return this.#fail();
    if (sign === '{') return this.#dict(depth);
    if (sign === '[') return this.#list(']', depth);
    if (sign === '(') return this.#list(')', depth);
    return sign === "'" || sign === '"' ? numberOr(this.#quoted(sign)) : this.#word(depth);
  }

  #dict(depth: number): unknown {
    const entries: [string, unknown][] = [];
    this.#at += 1;
    while (!this.#isBroken && !this.#takes('}')) {
      const key = this.value(depth + 1);
      if (!this.#takes(':')) return this.#fail();
      entries.push([String(key), this.value(depth + 1)]);
      if (!this.#takes(',') && this.#next() !== '}') return this.#fail();
    }
    return Object.fromEntries(entries);
  }

  #list(end: string, depth: number): unknown {
    const values: unknown[] = [];
    this.#at += 1;
    while (!this.#isBroken && !this.#takes(end)) {
      values.push(this.value(depth + 1));
      // Only the first argument of a call is a value, not `device='cuda:0'`.
      if (this.#takes('=')) this.value(depth + 1);
      if (!this.#takes(',') && this.#next() !== end) return this.#fail();
    }
    return values;
  }

  #quoted(quote: string): string {
    let text = '';
    for (this.#at += 1; this.#at < this.#text.length; this.#at++) {
      const sign = this.#text[this.#at]!;
      if (sign === quote) {
        this.#at += 1;
        return text;
      }
      text += sign === '\\' ? (this.#text[++this.#at] ?? '') : sign;
    }
    this.#fail();
    return text;
  }

  /** Parses a number, a name, or a call, whose first argument is its value. */
  #word(depth: number): unknown {
    const word = /[\w.+-]+/y;
    word.lastIndex = this.#at;
    const [text] = word.exec(this.#text) ?? [];
    if (text === undefined) return this.#fail();
    this.#at += text.length;
    if (this.#text[this.#at] !== '(') return valueOf(text);
    const list = this.#list(')', depth);
    return Array.isArray(list) ? (list as unknown[])[0] : broken;
  }

  #next(): string | undefined {
    this.#skipSpace();
    return this.#text[this.#at];
  }

  #takes(sign: string): boolean {
    if (this.#next() !== sign) return false;
    this.#at += 1;
    return true;
  }

  #skipSpace(): void {
    while (this.#text[this.#at] === ' ' || this.#text[this.#at] === '\t') this.#at += 1;
  }

  #fail(): typeof broken {
    this.#isBroken = true;
    this.#at = this.#text.length;
    return broken;
  }
}
