import { closeSync, readSync } from 'node:fs';
import { parseJsonLine } from '../contract/json-line.js';
import { obstacleOf, openRegular } from './regular-file.js';
import { FollowedFile } from './followed-file.js';

export type Row = Record<string, unknown>;

/** Read in one step, bytes; some 2 ms of work. A file that is no longer is read in the first step. */
const STEP = 128 << 10;
const NEWLINE = 10;

/**
 * Looks for the rows of a JSON-lines file that say that a run is done, in steps: the file may be a gigabyte long. It begins
 * with the end of the file, where that row mostly is, and then goes through all of it.
 *
 * `wanted` absent: all rows are wanted, and held.
 */
export class DoneSearch {
  readonly #path: string;
  readonly #wanted: ((row: Row) => boolean) | null;
  #rest: FollowedFile | null = null;
  #rows: Row[] = [];
  #isOver = false;
  #obstacle: string | null = null;

  constructor(path: string, wanted: ((row: Row) => boolean) | null) {
    this.#path = path;
    this.#wanted = wanted;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** What was found: with `wanted`, one row at most. */
  get rows(): readonly Row[] {
    return this.#rows;
  }

  /** Why the file could not be read, in words; null: it could, or there is none. */
  get obstacle(): string | null {
    return this.#obstacle;
  }

  /** Looks through a further part. */
  step(): void {
    if (this.#rest === null) this.#begin();
    else this.#goOn(this.#rest);
  }

  #begin(): void {
    const opened = openRegular(this.#path);
    if (opened.kind !== 'file') return this.#fail(opened);
    try {
      const { size } = opened.stat;
      const from = Math.max(0, size - STEP);
      const bytes = Buffer.allocUnsafe(size - from);
      const end = bytes.subarray(0, readSync(opened.descriptor, bytes, 0, bytes.length, from));
      // A line that is cut is none; one without a newline may be complete all the same.
      const cut = from === 0 ? 0 : end.indexOf(NEWLINE) + 1;
      if (from === 0 || cut > 0) this.#take(end.subarray(cut));
      if (from === 0 || (this.#wanted !== null && this.#rows.length > 0)) this.#isOver = true;
      else this.#rest = new FollowedFile(this.#path);
      if (!this.#isOver) this.#rows = [];
    } catch (error) {
      this.#fail(obstacleOf(error));
    } finally {
      closeSync(opened.descriptor);
    }
  }

  #goOn(rest: FollowedFile): void {
    const { bytes, more } = rest.read(STEP);
    this.#take(bytes);
    this.#obstacle = rest.obstacle;
    this.#isOver = !more || (this.#wanted !== null && this.#rows.length > 0);
  }

  #take(bytes: Buffer): void {
    for (let from = 0; from < bytes.length;) {
      const newline = bytes.indexOf(NEWLINE, from);
      const end = newline < 0 ? bytes.length : newline;
      const row = end === from ? null : parseJsonLine(bytes.toString('utf8', from, end));
      from = end + 1;
      if (row === null || this.#wanted?.(row) === false) continue;
      this.#rows.push(row);
      if (this.#wanted !== null) return;
    }
  }

  #fail(obstacle: ReturnType<typeof obstacleOf>): void {
    this.#obstacle = obstacle.kind === 'unreadable' ? obstacle.reason : null;
    this.#isOver = true;
  }
}
