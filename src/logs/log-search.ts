import { createContext, Script } from 'node:vm';
import type { LogFile } from './log-file.js';
import { firstLine, lastLine, type LineTest, plainText } from './log-plain-text.js';

/** Bytes searched in one step, few enough that a key press is handled without delay. */
const CHUNK = 256 << 10;
/** Bytes searched in one step if each line has to be made safe to draw first. */
const CAREFUL_CHUNK = 64 << 10;
const NEWLINE = 10;
/** Time limit of an expression for one step, ms. A key press meanwhile waits at most once for that long. */
const PATIENCE_MS = 500;

/** `done`: share of the log that has been searched, 0 to 1. `too long`: the expression takes too much time. */
type SearchStep =
  | { readonly kind: 'searching'; readonly done: number }
  | { readonly kind: 'found'; readonly offset: number }
  | { readonly kind: 'nothing' }
  | { readonly kind: 'too long' };

/** A part of the log that has yet to be searched: forward from `at` to before `stop`, or back from `at` to `stop`. */
type Part = { at: number; readonly stop: number };

/** Null: not found. */
type Found = number | 'too long' | null;

/**
 * Searches a log of any size for a line, a part per step. At one end of the log it continues at the other, until all of it was
 * searched.
 */
export class LogSearch {
  readonly #file: LogFile;
  readonly #test: LineTest;
  readonly #isForward: boolean;
  readonly #parts: Part[];
  readonly #total: number;
  #read = 0;
  /** Step size, reduced for a log whose lines need care. */
  #chunk = CHUNK;

  /** @param from A beginning of a line: forward the first that may match, backward the first that may not. */
  constructor(file: LogFile, test: LineTest, from: number, direction: 1 | -1) {
    this.#file = file;
    this.#test = test;
    this.#isForward = direction > 0;
    const { size } = file;
    this.#total = Math.max(1, size);
    const [first, second] = this.#isForward ? [size, 0] : [0, size];
    const parts = [
      { at: from, stop: first },
      { at: second, stop: from },
    ];
    this.#parts = parts.filter(({ at, stop }) => at !== stop);
  }

  step(): SearchStep {
    const part = this.#parts[0];
    if (part === undefined) return { kind: 'nothing' };
    const before = part.at;
    const found = this.#isForward ? this.#forward(part) : this.#backward(part);
    if (found === 'too long') return { kind: 'too long' };
    if (found !== null) return { kind: 'found', offset: found };
    this.#read += Math.abs(part.at - before);
    // A log that became shorter has no more lines.
    const isOver = part.at === before || (this.#isForward ? part.at >= part.stop : part.at <= part.stop);
    if (isOver) this.#parts.shift();
    if (this.#parts.length === 0) return { kind: 'nothing' };
    return { kind: 'searching', done: Math.min(1, this.#read / this.#total) };
  }

  /** Searches forward and advances `at`. Null: not found. */
  #forward(part: Part): Found {
    const { at, stop } = part;
    const block = this.#file.bytes(at, Math.min(this.#chunk, stop - at));
    const text = this.#plain(block.subarray(0, block.lastIndexOf(NEWLINE) + 1));
    if (text !== null) {
      part.at += Buffer.byteLength(text);
      return offsetIn(text, at, () => firstLine(text, this.#test));
    }
    const { lines, to } = this.#file.linesAfter(at, CAREFUL_CHUNK);
    part.at = Math.max(at, to);
    return bounded(() => lines.find((line) => line.offset < stop && this.#test.matches(line.text))?.offset ?? null);
  }

  #plain(bytes: Buffer): string | null {
    const text = plainText(bytes);
    this.#chunk = text === null ? CAREFUL_CHUNK : Math.min(CHUNK, 2 * this.#chunk);
    return text;
  }

  #backward(part: Part): Found {
    const { at, stop } = part;
    const base = Math.max(stop, at - this.#chunk);
    const block = this.#file.bytes(base, at - base);
    const start = base === stop ? 0 : block.indexOf(NEWLINE) + 1;
    const text = start === 0 && base > stop ? null : this.#plain(block.subarray(start));
    if (text !== null) {
      part.at = base + start;
      return offsetIn(text, part.at, () => lastLine(text, this.#test));
    }
    const { lines, from } = this.#file.linesBefore(at, CAREFUL_CHUNK);
    part.at = Math.min(at, from);
    return bounded(
      () => lines.findLast((line) => line.offset >= stop && this.#test.matches(line.text))?.offset ?? null,
    );
  }
}

/** Offset of a matching line in a text whose first byte is at `base`. */
function offsetIn(text: string, base: number, find: () => number | null): Found {
  const found = bounded(find);
  return typeof found === 'number' ? base + Buffer.byteLength(text.slice(0, found)) : found;
}

function bounded(find: () => number | null): Found {
  const matched = matchWithin(find, PATIENCE_MS);
  return matched.kind === 'matched' ? matched.value : 'too long';
}

/**
 * A compiled search, or why it is invalid. `fix`: what to type instead.
 *
 * `hint`: if it does not match a text of many lines, no line matches; null: there is no such quick test.
 */
type LogPattern =
  | { readonly kind: 'pattern'; readonly regexp: RegExp; readonly hint: RegExp | null }
  | { readonly kind: 'problem'; readonly problem: string; readonly fix: string };

/**
 * Compiles what the user typed as a regular expression. Without a capital letter it ignores case; `\S` and `\W` do not count as
 * capitals.
 */
export function readLogPattern(text: string): LogPattern {
  const hasCapital = /\p{Lu}/u.test(text.replace(/\\./gsu, ''));
  try {
    const flags = hasCapital ? 'g' : 'gi';
    // A negative look-around could match across lines.
    const hint = /\(\?<?!/.test(text) ? null : new RegExp(text, `${flags}m`);
    return { kind: 'pattern', regexp: new RegExp(text, flags), hint };
  } catch (error) {
    const why = error instanceof Error ? error.message.replace(/^.*: /s, '') : String(error);
    const fix = String.raw`Escape special characters to match them literally: \( \[ \* \+ \?`;
    return { kind: 'problem', problem: `“${text}” is not a regular expression: ${why.toLowerCase()}.`, fix };
  }
}

/** The result of a match with a time limit. */
type Matched<Value> = { readonly kind: 'matched'; readonly value: Value } | { readonly kind: 'too long' };

/** The message for an expression whose match was given up. */
export function tooLongWords(pattern: string): string {
  return `${pattern} takes too long; write it without a repetition of a repetition: a+ instead of (a+)+.`;
}

/** Created on first use, as most programs never match a user's expression. */
let boundedCall: ((task: () => unknown, patienceMs: number) => unknown) | null = null;

/**
 * Matches texts with a user's expression. Some expressions take years for a line of forty characters (`(a+)+$`), and only a script
 * with a time limit can be interrupted in the middle of one.
 *
 * @param match May be cut off without its `finally`, so it must have no side effects. Costs about 0.1 ms more than a direct call.
 * @param patienceMs Time limit, ms, above what sensible expressions take.
 */
export function matchWithin<Value>(match: () => Value, patienceMs: number): Matched<Value> {
  boundedCall ??= newBounded();
  try {
    return { kind: 'matched', value: boundedCall(match, patienceMs) as Value };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') return { kind: 'too long' };
    throw error;
  }
}

function newBounded(): (task: () => unknown, patienceMs: number) => unknown {
  const context = createContext({ task: null as (() => unknown) | null });
  const script = new Script('task()');
  return (task, patienceMs) => {
    context['task'] = task;
    return script.runInContext(context, { timeout: patienceMs }) as unknown;
  };
}
