import { join } from 'node:path';
import { runFiles } from '../../contract/files.js';
import { displayText } from '../../store/display-text.js';
import { LogFile, startOfLastLines } from './log-file.js';

export type LogOptions = {
  /** Lines to begin with. */
  readonly count: number;
  /** Only lines that match, wherever they stand in the log. */
  readonly grep: RegExp | null;
  /** The bytes as the run wrote them, instead of text that is safe to show. */
  readonly raw: boolean;
};

/** Writes the output of one run, line by line. */
export class LogPrinter {
  readonly #file: LogFile;
  readonly #options: LogOptions;
  readonly #prefix: string;
  readonly #write: (bytes: Buffer) => void;

  /** @param prefix Stands before each line. */
  constructor(directory: string, prefix: string, options: LogOptions, write: (bytes: Buffer) => void) {
    const path = join(directory, runFiles.log);
    // What matches may stand anywhere, so that all has to be read.
    this.#file = new LogFile(path, options.grep === null ? startOfLastLines(path, options.count) : 0);
    this.#options = options;
    this.#prefix = prefix;
    this.#write = write;
  }

  /** The last lines there are. */
  printLast(): void {
    const { count } = this.#options;
    let last: Buffer[] = [];
    for (const line of this.#file.added()) {
      if (this.#isWanted(line)) last.push(Buffer.from(line));
      if (last.length >= 2 * count + 1000) last = count === 0 ? [] : last.slice(-count);
    }
    for (const line of count === 0 ? [] : last.slice(-count)) this.#print(line);
  }

  /** What has come since. */
  printAdded(): void {
    for (const line of this.#file.added()) if (this.#isWanted(line)) this.#print(line);
  }

  /** The last line, if it has no end: no more will come. */
  printRest(): void {
    const rest = this.#file.takeRest();
    if (rest !== null && this.#isWanted(rest)) this.#print(rest);
  }

  #isWanted(line: Buffer): boolean {
    const { grep } = this.#options;
    return grep === null || grep.test(displayText(line.toString('utf8')));
  }

  #print(line: Buffer): void {
    const shown = this.#options.raw ? line : Buffer.from(displayText(line.toString('utf8')));
    this.#write(Buffer.concat([Buffer.from(this.#prefix), shown, Buffer.from('\n')]));
  }
}
