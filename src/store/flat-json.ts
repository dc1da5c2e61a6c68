import { parseJsonLine } from '../contract/json-line.js';

/** A foreign file may invent a key a row; no chart shows so many. */
const MOST_KEYS = 2000;
/** Whole numbers up to here, and powers of ten up to 22, are exact in a double, so one division rounds once. */
const EXACT = 2 ** 53;
const powers = Array.from({ length: 23 }, (_, exponent) => 10 ** exponent);

/**
 * Takes the numbers out of flat JSON rows (`{"step": 3, "loss": 0.5}`), straight from bytes.
 *
 * Writers repeat the same keys in the same order, so each key is compared with the one that stood there in the row
 * before, and no string is made. `null` and `NaN` give NaN, true and false 1 and 0,
 * strings and nested values are left out. Anything unusual takes the slow way through `JSON.parse`.
 */
export class FlatRowParser {
  /** Every key seen, by id. */
  readonly keys: string[] = [];
  /** The numbers of the row parsed last, `count` of them: key ids and values. */
  readonly ids = new Int32Array(MOST_KEYS);
  readonly values = new Float64Array(MOST_KEYS);
  count = 0;
  readonly #idOf = new Map<string, number>();
  /** The key that stood at each place of the row before. */
  readonly #expected: { bytes: Buffer; id: number }[] = [];
  #bytes: Buffer = Buffer.alloc(0);
  #at = 0;
  #end = 0;

  /** Parses the line `[from, end)`. False: it is not a JSON object (torn, empty, foreign). */
  parse(bytes: Buffer, from: number, end: number): boolean {
    this.#bytes = bytes;
    this.#at = from;
    this.#end = end;
    this.count = 0;
    return this.#parseFast() || this.#parseSlowly(bytes.toString('utf8', from, end));
  }

  #parseFast(): boolean {
    if (!this.#skip(OPEN)) return false;
    if (this.#skip(CLOSE)) return this.#isAtEnd();
    for (let place = 0; ; place++) {
      const id = this.#key(place);
      if (id === NO_KEY || !this.#skip(COLON) || !this.#value(id)) return false;
      if (this.#skip(CLOSE)) return this.#isAtEnd();
      if (!this.#skip(COMMA)) return false;
    }
  }

  #parseSlowly(line: string): boolean {
    const row = parseJsonLine(line);
    if (row === null) return false;
    this.count = 0;
    for (const [key, value] of Object.entries(row)) {
      if (typeof value === 'number' || value === null) this.#put(this.#id(key), value ?? NaN);
      else if (typeof value === 'boolean') this.#put(this.#id(key), Number(value));
    }
    return true;
  }

  /** Passes white space and this byte; false, and stays after the white space, when another byte is there. */
  #skip(byte: number): boolean {
    while (this.#bytes[this.#at] === SPACE || this.#bytes[this.#at] === TAB) this.#at += 1;
    if (this.#at >= this.#end || this.#bytes[this.#at] !== byte) return false;
    this.#at += 1;
    return true;
  }

  #isAtEnd(): boolean {
    while (this.#at < this.#end && this.#bytes[this.#at]! <= SPACE) this.#at += 1;
    return this.#at === this.#end;
  }

  #key(place: number): number {
    if (!this.#skip(QUOTE)) return NO_KEY;
    const expected = this.#expected[place];
    if (expected !== undefined && this.#passes(expected.bytes)) return expected.id;
    const start = this.#at;
    if (!this.#passString()) return NO_KEY;
    const bytes = Buffer.from(this.#bytes.subarray(start, this.#at));
    // An escape inside the key: rare enough for the slow way.
    if (bytes.includes(BACKSLASH)) return NO_KEY;
    const id = this.#id(bytes.toString('utf8', 0, bytes.length - 1));
    if (place < MOST_KEYS) this.#expected[place] = { bytes, id };
    return id;
  }

  /** Moves past these bytes (a key and its closing quote) if they are next. */
  #passes(expected: Buffer): boolean {
    const from = this.#at;
    if (from + expected.length > this.#end) return false;
    for (let index = 0; index < expected.length; index++)
      if (this.#bytes[from + index] !== expected[index]) return false;
    this.#at = from + expected.length;
    return true;
  }

  /** Moves past the closing quote of the string that began just before. */
  #passString(): boolean {
    for (; this.#at < this.#end; this.#at++) {
      const byte = this.#bytes[this.#at];
      if (byte === BACKSLASH) this.#at += 1;
      else if (byte === QUOTE) return ++this.#at <= this.#end;
    }
    return false;
  }

  #value(id: number): boolean {
    while (this.#bytes[this.#at] === SPACE) this.#at += 1;
    const byte = this.#bytes[this.#at]!;
    if (byte === QUOTE) {
      this.#at += 1;
      return this.#passString();
    }
    if (byte === MINUS || (byte >= ZERO && byte <= NINE)) return this.#number(id);
    return this.#word(id);
  }

  #word(id: number): boolean {
    for (const { text, value } of words) {
      if (this.#passes(text)) return this.#put(id, value);
    }
    return false;
  }

  /** JSON's number grammar, loosely; what it lets through is judged by `Number`. */
  #number(id: number): boolean {
    const start = this.#at;
    const negative = this.#bytes[start] === MINUS;
    if (negative) this.#at += 1;
    const whole = this.#digits(0);
    let mantissa = whole;
    let fraction = 0;
    if (this.#bytes[this.#at] === DOT) {
      const dot = ++this.#at;
      mantissa = this.#digits(whole);
      fraction = this.#at - dot;
    }
    const plain = this.#at < this.#end && isDelimiter(this.#bytes[this.#at]!);
    if (plain && this.#at > start + Number(negative) && mantissa < EXACT && fraction < powers.length) {
      const magnitude = mantissa / powers[fraction]!;
      return this.#put(id, negative ? -magnitude : magnitude);
    }
    return this.#slowNumber(id, start);
  }

  #digits(mantissa: number): number {
    let value = mantissa;
    for (; this.#at < this.#end; this.#at++) {
      const digit = this.#bytes[this.#at]! - ZERO;
      if (digit < 0 || digit > 9) break;
      value = value * 10 + digit;
    }
    return value;
  }

  #slowNumber(id: number, start: number): boolean {
    while (this.#at < this.#end && !isDelimiter(this.#bytes[this.#at]!)) this.#at += 1;
    const text = this.#bytes.toString('latin1', start, this.#at);
    const value = Number(text);
    // -Infinity is a number to `Number`; 0x10 and the like are not JSON.
    if (Number.isNaN(value) || /^-?0[xob]/i.test(text)) return false;
    return this.#put(id, value);
  }

  #id(key: string): number {
    const known = this.#idOf.get(key);
    if (known !== undefined) return known;
    if (this.keys.length >= MOST_KEYS) return IGNORED;
    this.#idOf.set(key, this.keys.length);
    return this.keys.push(key) - 1;
  }

  #put(id: number, value: number): true {
    if (id === IGNORED || this.count >= MOST_KEYS) return true;
    this.ids[this.count] = id;
    this.values[this.count++] = value;
    return true;
  }
}

const NO_KEY = -2;
const IGNORED = -1;
const OPEN = 0x7b;
const CLOSE = 0x7d;
const COLON = 0x3a;
const COMMA = 0x2c;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const SPACE = 0x20;
const TAB = 0x09;
const MINUS = 0x2d;
const DOT = 0x2e;
const ZERO = 0x30;
const NINE = 0x39;
const words = [
  { text: Buffer.from('null'), value: NaN },
  { text: Buffer.from('NaN'), value: NaN },
  { text: Buffer.from('true'), value: 1 },
  { text: Buffer.from('false'), value: 0 },
  { text: Buffer.from('Infinity'), value: Infinity },
];

function isDelimiter(byte: number): boolean {
  return byte === COMMA || byte === CLOSE || byte === SPACE;
}
