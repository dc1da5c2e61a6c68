import { parseJsonLine } from '../../../contract/json-line.js';
import { stepKeyOf } from '../../row-numbers.js';
import { valueOf } from '../csv.js';
import type { WrittenRow } from '../format.js';
import { isOfFailure } from './log-line.js';
import { toNumber } from './printed-tokens.js';
import { readLine } from './printed-line.js';

/** Text before a dict that holds settings, not metrics. */
const ofSettings = /(?:config\w{0,40}|args|arguments|params|parameters|settings|options)\W{0,8}$/i;

const mayBeJson = /^\{\s{0,8}["}]/;

/**
 * The dict or JSON object in a line, with a logger's prefix before it, and pairs after it: `epoch=1 metrics={'loss': 0.5}
 * step=100`. Null also for a dict that is labelled as settings.
 */
export function objectIn(line: string): WrittenRow | null {
  const from = line.indexOf('{');
  if (from < 0) return null;
  const to = line.lastIndexOf('}') + 1;
  if (to === 0) return null;
  if (line.includes('Trial ')) return trialIn(line);
  const after = pairsIn(line.slice(to).trim());
  if (after === null || isOther(line, from)) return null;
  const text = line.slice(from, to);
  // An attempt at JSON that fails costs more than all else that is done for a line.
  const json = mayBeJson.test(text) ? parseJsonLine(text) : null;
  const row = json ?? parsePythonDict(text);
  return row === null ? null : joined(after, withAxis(withNumbers(row)));
}

/** Whether an object that begins there is a part of a message of failure, or is labelled as settings. */
function isOther(line: string, from: number): boolean {
  if (from === 0) return false;
  return isOfFailure(line) || ofSettings.test(line.slice(Math.max(0, from - 80), from));
}

/** Pairs after a dict; null: other text is there. */
function pairsIn(text: string): WrittenRow | null {
  if (text === '') return {};
  const printed = /^[\w.]{1,80} ?=/.test(text) ? readLine(text) : null;
  return printed && { ...Object.fromEntries(printed.places.map(({ name, at }) => [name, at])), ...printed.metrics };
}

/** Converts numbers that were written as texts (fairseq). */
function withNumbers(row: WrittenRow): WrittenRow {
  if (!Object.values(row).some((value) => typeof value === 'string')) return row;
  return Object.fromEntries(
    Object.entries(row).map(([key, value]) => {
      const number = typeof value === 'string' ? valueOf(value) : value;
      return [key, typeof number === 'number' ? number : value];
    }),
  );
}

const trial = /\bTrial (\d+) finished with value: (\S+) .*\bBest is trial \d+ with value: (\S+)\.$/;

function trialIn(line: string): WrittenRow | null {
  const [, number, value, best] = trial.exec(line) ?? [];
  return number === undefined
    ? null
    : { trial: Number(number), value: toNumber(value!), 'best value': toNumber(best!) };
}

/** Counters that get another name in a row. */
const aliases: ReadonlySet<string> = new Set(['num_updates', 'Epoch', 'steps', 'Step', 'Iteration']);

/** Renames a counter of the program to `step`. */
export function withAxis(row: WrittenRow): WrittenRow {
  const alias = stepKeyOf(Object.keys(row), (key) => row[key])?.key;
  if (alias === undefined || !aliases.has(alias)) return row;
  return { [alias === 'Epoch' ? 'epoch' : 'step']: row[alias], ...without(row, alias) };
}

/** Both in one row, of which the second counts. Spread, the same takes ten times as long: it is done for each line. */
export function joined(one: WrittenRow, other: WrittenRow): WrittenRow {
  return Object.assign({}, one, other);
}

export function without(row: WrittenRow, key: string): WrittenRow {
  return Object.fromEntries(Object.entries(row).filter(([name]) => name !== key));
}

/** Limit on the nesting of dicts in a row of metrics. */
const DEEPEST = 8;

/**
 * Parses the text that Python prints for a dict: `{'loss': 1.94, 'epoch': 0.3}`. A text that contains a number becomes one (newer
 * versions of Hugging Face's Trainer print `'1.942'`); `tensor(0.5, device='cuda:0')` and `np.float64(0.5)` become the number in
 * them.
 *
 * @returns Null: the text is not a dict.
 */
function parsePythonDict(text: string): Record<string, unknown> | null {
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
