import { createContext, Script } from 'node:vm';
import type { LogFile } from './log-file.js';
import { firstLine, lastLine, type LineTest, plainText } from './log-plain-text.js';

/** Read in one step: short enough that a key pressed meanwhile is answered at once. */
const CHUNK = 256 << 10;
/** The same where each line has to be made safe to draw before it is looked at. */
const CAREFUL_CHUNK = 64 << 10;
const NEWLINE = 10;
/** More than any sensible expression takes for a chunk, ms. A key pressed meanwhile waits as long, once. */
const PATIENCE_MS = 500;

/** `done`: how much of the log has been looked at, 0 to 1. `too long`: what is looked for cannot be found in any bearable time. */
type SearchStep =
  | { readonly kind: 'searching'; readonly done: number }
  | { readonly kind: 'found'; readonly offset: number }
  | { readonly kind: 'nothing' }
  | { readonly kind: 'too long' };

/** A part of the log still to look at: from `at` on to before `stop`, or back from `at` to `stop`. */
type Part = { at: number; readonly stop: number };

/** Null: it is not there. */
type Found = number | 'too long' | null;

/**
 * Looks through a log of any size for a line, a part per step. Goes on at the other end of the log when it comes to
 * one, until all of it was looked at.
 */
export class LogSearch {
  readonly #file: LogFile;
  readonly #test: LineTest;
  readonly #isForward: boolean;
  readonly #parts: Part[];
  readonly #total: number;
  #read = 0;
  /** Less where the log is such that each line needs care. */
  #chunk = CHUNK;

  /** @param from A beginning of a line: the first that may match forward, the first that may not backward. */
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
    // A log that became shorter gives nothing more.
    const isOver = part.at === before || (this.#isForward ? part.at >= part.stop : part.at <= part.stop);
    if (isOver) this.#parts.shift();
    if (this.#parts.length === 0) return { kind: 'nothing' };
    return { kind: 'searching', done: Math.min(1, this.#read / this.#total) };
  }

  /** Moves `at` on over what was looked at. Null: nothing was found in it. */
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

/** Where the line is that begins at some character of a text whose first byte lies at `base`. */
function offsetIn(text: string, base: number, find: () => number | null): Found {
  const found = bounded(find);
  return typeof found === 'number' ? base + Buffer.byteLength(text.slice(0, found)) : found;
}

function bounded(find: () => number | null): Found {
  const matched = matchWithin(find, PATIENCE_MS);
  return matched.kind === 'matched' ? matched.value : 'too long';
}

/**
 * What is searched for, or why it cannot be. `fix`: what to type instead.
 *
 * `hint`: where it finds nothing in a text of many lines, no line of it matches; null: that cannot be told so quickly.
 */
type LogPattern =
  | { readonly kind: 'pattern'; readonly regexp: RegExp; readonly hint: RegExp | null }
  | { readonly kind: 'problem'; readonly problem: string; readonly fix: string };

/**
 * Reads what a person typed as a regular expression. Without a capital letter it finds both cases; `\S` and `\W` are
 * not capitals.
 */
export function readLogPattern(text: string): LogPattern {
  const hasCapital = /\p{Lu}/u.test(text.replace(/\\./gsu, ''));
  try {
    const flags = hasCapital ? 'g' : 'gi';
    // What must not stand before or after it may stand on another line.
    const hint = /\(\?<?!/.test(text) ? null : new RegExp(text, `${flags}m`);
    return { kind: 'pattern', regexp: new RegExp(text, flags), hint };
  } catch (error) {
    const why = error instanceof Error ? error.message.replace(/^.*: /s, '') : String(error);
    const fix = String.raw`Escape special characters to match them literally: \( \[ \* \+ \?`;
    return { kind: 'problem', problem: `“${text}” is not a regular expression: ${why.toLowerCase()}.`, fix };
  }
}

/** What came of matching within a time. */
type Matched<Value> = { readonly kind: 'matched'; readonly value: Value } | { readonly kind: 'too long' };

/** Made when first needed: most programs never match what a person typed. */
let boundedCall: ((task: () => unknown, patienceMs: number) => unknown) | null = null;

/**
 * Matches texts with an expression of a person's. Some expressions take years for a line of forty characters (`(a+)+$`): only
 * a script with a time limit can be interrupted in the middle of one.
 *
 * @param match Is cut off without its `finally`, so it must do nothing but look at texts. Costs about 0.1 ms more than alone.
 * @param patienceMs More than any sensible expression takes for these texts, ms.
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
