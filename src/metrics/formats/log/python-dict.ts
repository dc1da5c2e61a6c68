import { valueOf } from '../csv.js';

/** A dict within a dict beyond this is no row of metrics. */
const DEEPEST = 8;

/**
 * What Python's `print` makes of a dict, as an object: `{'loss': 1.94, 'epoch': 0.3}`. A text that is a number is one (newer
 * versions of Hugging Face's Trainer print `'1.942'`); `tensor(0.5, device='cuda:0')` and `np.float64(0.5)` are the number
 * in them.
 *
 * @returns Null: the text is no dict.
 */
export function parsePythonDict(text: string): Record<string, unknown> | null {
  const reader = new DictReader(text);
  const value = reader.value(0);
  return reader.isAtEnd && typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : null;
}

/** A word in quotes is a word: `'none'` is no missing number. */
function numberOr(text: string): unknown {
  const value = valueOf(text);
  return typeof value === 'number' ? value : text;
}

/** What cannot be read. */
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
      // Of what stands in a call only the first argument is a value: `device='cuda:0'`.
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

  /** A number, a name, or a call: of a call, its first argument. */
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
