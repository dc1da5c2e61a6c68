import { type LogFile } from './log-file.js';

/** Read in one step: short enough that a key pressed meanwhile is answered at once. */
const CHUNK = 512 << 10;

/** `done`: how much of the log has been looked at, 0 to 1. */
export type SearchStep =
  | { readonly kind: 'searching'; readonly done: number }
  | { readonly kind: 'found'; readonly offset: number }
  | { readonly kind: 'nothing' };

/** A part of the log still to look at: from `at` on to before `stop`, or back from `at` to `stop`. */
type Part = { at: number; readonly stop: number };

/**
 * Looks through a log of any size for a line, a part per step. Goes on at the other end of the log when it comes to
 * one, until all of it was looked at.
 */
export class LogSearch {
  readonly #file: LogFile;
  readonly #matches: (text: string) => boolean;
  readonly #isForward: boolean;
  readonly #parts: Part[];
  readonly #total: number;
  #read = 0;

  /** @param from A beginning of a line: the first that may match forward, the first that may not backward. */
  constructor(file: LogFile, matches: (text: string) => boolean, from: number, direction: 1 | -1) {
    this.#file = file;
    this.#matches = matches;
    this.#isForward = direction > 0;
    this.#total = Math.max(1, file.size);
    const { size } = file;
    const parts = this.#isForward
      ? [
          { at: from, stop: size },
          { at: 0, stop: from },
        ]
      : [
          { at: from, stop: 0 },
          { at: size, stop: from },
        ];
    this.#parts = parts.filter(({ at, stop }) => at !== stop);
  }

  step(): SearchStep {
    const part = this.#parts[0];
    if (part === undefined) return { kind: 'nothing' };
    const found = this.#isForward ? this.#forward(part) : this.#backward(part);
    if (found !== undefined) return { kind: 'found', offset: found };
    if (this.#isForward ? part.at >= part.stop : part.at <= part.stop) this.#parts.shift();
    if (this.#parts.length === 0) return { kind: 'nothing' };
    return { kind: 'searching', done: Math.min(1, this.#read / this.#total) };
  }

  #forward(part: Part): number | undefined {
    const { lines, to } = this.#file.linesAfter(part.at, Math.min(CHUNK, part.stop - part.at));
    this.#read += to - part.at;
    const before = part.stop;
    // A log that became shorter gives nothing more.
    part.at = to > part.at ? to : part.stop;
    return lines.find(({ offset, text }) => offset < before && this.#matches(text))?.offset;
  }

  #backward(part: Part): number | undefined {
    const { lines, from } = this.#file.linesBefore(part.at, Math.min(CHUNK, part.at - part.stop));
    this.#read += part.at - from;
    part.at = from < part.at ? from : part.stop;
    return lines.findLast(({ offset, text }) => offset >= part.stop && this.#matches(text))?.offset;
  }
}
