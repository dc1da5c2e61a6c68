import { join } from 'node:path';
import { UserError } from '../../base/user-error.js';
import { runFiles } from '../../contract/files.js';
import { overwrites } from '../../logs/log-file.js';
import { matchWithin } from '../../logs/log-search.js';
import { displayText, shortened } from '../../text/display-text.js';
import type { Painted } from '../terminal.js';
import { LogFile, type LogPiece, startOfLastLines } from './log-follower.js';

export type LogOptions = {
  /** Number of lines to begin with. */
  readonly count: number;
  /** Print only matching lines, anywhere in the log. In a very long line each piece counts as a line. */
  readonly grep: RegExp | null;
  /** Print the run's bytes unchanged, instead of text that is safe to show. */
  readonly raw: boolean;
};

/** Destination of the output: text without a newline, and bytes. */
type LogOutput = {
  readonly text: (text: string | Painted) => void;
  readonly bytes: (bytes: Uint8Array) => void;
  /** Resolves once all of it is written; until then it is kept in memory. */
  readonly settled: () => Promise<void>;
};

/** Number of pieces that are matched together. */
const BATCH = 256;
/** Number of pieces that are printed before waiting for the output. */
const TURN = 32;
const newline = Buffer.from('\n');

/** Prints the output of one run, line by line; keeps at most a piece of a line in memory. */
export class LogPrinter {
  readonly #file: LogFile;
  readonly #options: LogOptions;
  readonly #prefix: string | Painted | null;
  readonly #output: LogOutput;
  readonly #matches: (texts: readonly string[]) => readonly boolean[];
  /** Whether a part of the present line was printed. */
  #isOpen = false;
  /** The last piece of the present line, which following bytes may overwrite. */
  #held = '';

  /** @param prefix Printed before each line; null: none. */
  constructor(directory: string, prefix: string | Painted | null, options: LogOptions, output: LogOutput) {
    const path = join(directory, runFiles.log);
    // Matches may be anywhere, so that all of it has to be read.
    this.#file = new LogFile(path, options.grep === null ? startOfLastLines(path, options.count) : 0);
    this.#options = options;
    this.#prefix = prefix;
    this.#output = output;
    this.#matches = options.grep === null ? (texts) => texts.map(() => true) : lineFilter(options.grep);
  }

  /** Prints the last lines. */
  async printLast(): Promise<void> {
    const { count, grep } = this.#options;
    if (grep === null) return this.printAdded();
    const last: Buffer[] = [];
    for (const { bytes } of this.#matching(this.#file.added())) {
      // A copy, so that its block can be freed.
      last.push(Buffer.from(bytes));
      if (last.length > count) last.shift();
    }
    await this.#printAll(last.map((bytes) => ({ bytes, endsLine: true })));
  }

  /** Prints new lines. */
  async printAdded(): Promise<void> {
    const added = this.#file.added();
    await this.#printAll(this.#options.grep === null ? added : this.#matching(added));
  }

  /** Prints an unfinished last line, when no more will come. */
  printRest(): void {
    const rest = this.#file.takeRest();
    if (rest !== null && this.#matches([shown(rest)])[0] === true) this.#print(rest);
  }

  async #printAll(pieces: Iterable<LogPiece>): Promise<void> {
    let printed = 0;
    for (const piece of pieces) {
      this.#print(piece);
      if (++printed % TURN === 0) await this.#output.settled();
    }
  }

  *#matching(pieces: Iterable<LogPiece>): Generator<LogPiece> {
    let batch: LogPiece[] = [];
    for (const piece of pieces) {
      batch.push(piece);
      if (batch.length < BATCH) continue;
      yield* this.#matchingOf(batch);
      batch = [];
    }
    yield* this.#matchingOf(batch);
  }

  #matchingOf(batch: readonly LogPiece[]): LogPiece[] {
    if (batch.length === 0) return [];
    const isMatching = this.#matches(batch.map(shown));
    // A match in a long line is printed as a line of its own.
    return batch.filter((_piece, index) => isMatching[index]).map(({ bytes }) => ({ bytes, endsLine: true }));
  }

  #print(piece: LogPiece): void {
    const { text, bytes } = this.#output;
    if (!this.#isOpen && this.#prefix !== null) text(this.#prefix);
    this.#isOpen = !piece.endsLine;
    if (this.#options.raw) {
      bytes(piece.bytes);
      if (piece.endsLine) bytes(newline);
      return;
    }
    // Of a line that was overwritten only the last state is shown, however many pieces it has.
    const before = overwrites(piece.bytes) ? '' : this.#held;
    this.#held = piece.endsLine ? '' : shown(piece);
    const now = before + (piece.endsLine ? `${shown(piece)}\n` : '');
    if (now !== '') text(now);
  }
}

const harmless = /^[\x20-\x7e]*$/;

function shown({ bytes }: LogPiece): string {
  const text = bytes.toString('utf8');
  return harmless.test(text) ? text : displayText(text);
}

/** Time limit of an expression for a batch of lines, ms. */
const PATIENCE_MS = 3000;

/**
 * Which texts match a user's expression.
 *
 * @throws {UserError} When the texts of one call take too long.
 */
function lineFilter(pattern: RegExp): (texts: readonly string[]) => readonly boolean[] {
  return (texts) => {
    const matched = matchWithin(() => texts.map((text) => pattern.test(text)), PATIENCE_MS);
    if (matched.kind === 'matched') return matched.value;
    throw new UserError(
      `--grep ${shortened(pattern.source)} takes too long: ${PATIENCE_MS / 1000} s were not enough for ${texts.length} lines.`,
      'Write it without a repetition of a repetition, such as (a+)+: a+ finds the same lines.',
    );
  };
}
