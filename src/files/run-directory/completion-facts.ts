import { closeSync, readdirSync, readSync } from 'node:fs';
import { join } from 'node:path';
import type { RunFacts } from '../../base/outcome.js';
import { runFiles } from '../../contract/files.js';
import { parseJsonLine } from '../../contract/json-line.js';
import { exitCodeIn, type RunRecord } from '../../contract/run-record.js';
import { patternOrNull } from '../../text/pattern.js';
import { FollowedFile } from '../followed-file.js';
import { obstacleOf, openRegular, readRegular, statOf } from '../regular-file.js';
import { readRunRecord, recordObstacle } from './run-record-file.js';

/**
 * When a run counts as done: exit code 0, a file in its directory (with `where`: with a certain row of JSON), a line of its output
 * that a regular expression matches, or a command. The command is not called here; only its recorded result is read.
 */
type DoneEvidence =
  | { exit: 0 }
  | { file: string; where?: string | undefined }
  | { output: string }
  | { command: readonly string[] };

/** Size limit of the files that a shim writes, in bytes. */
const LARGEST_NOTE = 64 << 10;

/**
 * Reads what a run's directory says about its past: `run.json`, the shim's exit files, and the file of the done rule. A missing
 * directory gives the facts of a run that never started. Takes about 50 µs.
 *
 * @param isDone Whether a row of the done rule's file shows that the run is done; absent: all rows are returned.
 */
export function readRunFacts(directory: string, done: DoneEvidence, isDone?: (row: Row) => boolean): RunFacts {
  const reading = new FactsReading(directory, done, isDone);
  while (!reading.isOver) reading.step();
  return reading.facts;
}

/** The same in steps of a few ms, for callers that must not block; nearly all runs take one step. */
export class FactsReading {
  readonly #search: DoneSearch | null;
  readonly #file: string;
  readonly #facts: RunFacts;

  constructor(directory: string, done: DoneEvidence, isDone?: (row: Row) => boolean) {
    const past = pastOf(directory);
    const isNew = past === unknownRun;
    this.#file = 'file' in done ? done.file : runFiles.log;
    const rows = isNew ? null : knownRows(directory, done, past.attempts);
    this.#facts = rows === null ? past : { ...past, doneRows: rows };
    const rowOf = isNew ? null : rowReader(done);
    this.#search = rowOf && new DoneSearch(join(directory, this.#file), isDone ?? null, rowOf);
    this.#search?.step();
  }

  get isOver(): boolean {
    return this.#search?.isOver ?? true;
  }

  step(): void {
    this.#search?.step();
  }

  /** The facts, as far as they have been read. */
  get facts(): RunFacts {
    if (this.#search === null) return this.#facts;
    const { rows, obstacle, malformed } = this.#search;
    const damage = malformed === null ? {} : { malformed: `${malformed} of ${this.#file}` };
    const facts = { ...this.#facts, doneRows: rows, ...damage };
    return obstacle === null ? facts : { ...facts, obstacle: `${this.#file} cannot be read: ${obstacle}` };
  }
}

/** The rows that show that the run is done, if that is known without reading a file of rows; null: the file must be read. */
function knownRows(directory: string, done: DoneEvidence, attempt: number): Row[] | null {
  if (isOnlyFile(done)) return fileAsRows(join(directory, done.file));
  if (!('command' in done)) return null;
  const last = readRunRecord(directory)?.attempts.find(({ number }) => number === attempt);
  return last?.outcome?.kind === 'done' && last.outcome.rule === undefined ? [{}] : [];
}

function isOnlyFile(done: DoneEvidence): done is { file: string } {
  return 'file' in done && done.where === undefined;
}

/** One row if the file exists, also if it is a folder, such as a checkpoint. A file that is not accessible counts as missing. */
function fileAsRows(path: string): Row[] {
  try {
    return statOf(path) === undefined ? [] : [{}];
  } catch {
    return [];
  }
}

/** Returns a parser of the lines in the rule's file; null: the rule has no lines. */
function rowReader(done: DoneEvidence): RowOf | null {
  if ('exit' in done || 'command' in done || isOnlyFile(done)) return null;
  return 'output' in done ? matchedLine(done.output) : parseJsonLine;
}

/** Number of characters of a line of output that are matched against an expression. */
const LONGEST = 1000;

function matchedLine(source: string): RowOf {
  const pattern = patternOrNull(source);
  return (line) => (pattern?.test(line.slice(0, LONGEST).trimEnd()) === true ? {} : null);
}

/** All facts but the rows of the done rule's file. */
function pastOf(directory: string): RunFacts {
  // Most runs of a new sweep have no directory: checking that first is far cheaper than failing to read four files.
  const obstacle = directoryObstacle(directory);
  if (obstacle !== null) return obstacle === '' ? unknownRun : { ...unknownRun, obstacle };
  const record = readRunRecord(directory);
  const attempts = Math.max(lastRecorded(record), lastClaimed(directory));
  const exit = attempts === 0 ? noExit : readExit(directory, attempts);
  const unread = (record === null ? recordWords(directory) : null) ?? exit.obstacle;
  return {
    ...recordedRun(record),
    attempts,
    exitCode: exit.code,
    stoppedBy: stoppedBy(record, attempts),
    doneRows: [],
    ...(unread === null ? {} : { obstacle: unread }),
  };
}

/** The identity of a run by its record. */
function recordedRun(record: RunRecord | null): Pick<RunFacts, 'known' | 'identity' | 'group' | 'parameters'> {
  if (record === null) return { known: false, identity: null, group: null, parameters: null };
  const { identity, group, parameters } = record;
  return { known: true, identity, group, parameters };
}

/** Why a directory is not accessible. Empty: it does not exist. Null: it is accessible. */
function directoryObstacle(directory: string): string | null {
  try {
    return statOf(directory) === undefined ? '' : null;
  } catch (error) {
    const obstacle = obstacleOf(error);
    return obstacle.kind === 'absent' ? '' : `its directory cannot be read: ${obstacle.reason}`;
  }
}

function recordWords(directory: string): string | null {
  const reason = recordObstacle(directory);
  return reason === null ? null : `${runFiles.record} cannot be read: ${reason}`;
}

/** The facts of a run without a directory. */
export const unknownRun: RunFacts = {
  known: false,
  identity: null,
  group: null,
  parameters: null,
  attempts: 0,
  exitCode: null,
  stoppedBy: null,
  doneRows: [],
};

function lastRecorded(record: RunRecord | null): number {
  return Math.max(0, ...(record?.attempts ?? []).map(({ number }) => number));
}

/** The highest numbered folder below `attempts/`: the shim creates one before `run.json` may mention it. */
export function lastClaimed(directory: string): number {
  try {
    const names = readdirSync(join(directory, runFiles.attempts));
    return Math.max(0, ...names.filter((name) => /^[1-9]\d*$/.test(name)).map(Number));
  } catch {
    // The folder does not exist or is not readable: then no attempt can start there either.
    return 0;
  }
}

/**
 * The exit code of an attempt; null: unknown. Only the last attempt counts: an earlier 0 tells nothing once a larger budget was
 * requested.
 */
export function exitCode(directory: string, attempt: number): number | null {
  return readExit(directory, attempt).code;
}

type Exit = { code: number | null; obstacle: string | null };

const noExit: Exit = { code: null, obstacle: null };

function readExit(directory: string, attempt: number): Exit {
  const folder = join(directory, runFiles.attempts, String(attempt));
  const exit = readRegular(join(folder, runFiles.exit), LARGEST_NOTE);
  const code = exitCodeIn(textOf(exit), () => textOf(readRegular(join(folder, runFiles.pid), LARGEST_NOTE)));
  if (code !== null || exit.kind !== 'unreadable') return { code, obstacle: null };
  return { code, obstacle: `the exit code of attempt ${attempt} cannot be read: ${exit.reason}` };
}

function textOf(read: ReturnType<typeof readRegular>): string | null {
  return read.kind === 'text' ? read.text : null;
}

function stoppedBy(record: RunRecord | null, attempt: number): string | null {
  const outcome = record?.attempts.find(({ number }) => number === attempt)?.outcome;
  return outcome?.kind === 'done' ? (outcome.rule ?? null) : null;
}

type Row = Record<string, unknown>;
/** Parses a line; null: it is no row. */
type RowOf = (line: string) => Row | null;

/** Bytes read in one step, some 2 ms of work. A shorter file is read in the first step. */
const STEP = 128 << 10;
/** A file up to this size in bytes is always read to its end, as every line of it must be a valid row. */
const WHOLE = 4 * STEP;
const NEWLINE = 10;
/** Stands for a line until its number is known. */
const somewhere = 'a line at the end';
/** The beginning of a row whose writer has not finished, or never will. */
const tornRow = /^\s*(\{|$)/;

/**
 * Searches a JSON-lines file for the rows that show that a run is done, in steps: the file may be a gigabyte long. It starts with
 * the end of the file, where that row mostly is, and then reads all of it.
 *
 * A line that is no row means that the file is damaged; in a long file only the part that was read is checked. Blank lines are
 * skipped, as is a row at the end without a newline, which may still be being written.
 *
 * `wanted` absent: all rows are returned.
 */
export class DoneSearch {
  readonly #path: string;
  readonly #wanted: ((row: Row) => boolean) | null;
  readonly #rowOf: RowOf;
  #rest: FollowedFile | null = null;
  #rows: Row[] = [];
  #isOver = false;
  #obstacle: string | null = null;
  #malformed: string | null = null;
  /** Number of lines before the next one; null: unknown, as reading began within the file. */
  #line: number | null = 0;
  #isLong = false;

  constructor(path: string, wanted: ((row: Row) => boolean) | null, rowOf: RowOf = parseJsonLine) {
    this.#path = path;
    this.#wanted = wanted;
    this.#rowOf = rowOf;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** The rows that were found: with `wanted`, at most one. */
  get rows(): readonly Row[] {
    return this.#rows;
  }

  /** Why the file is not readable, in words; null: it is, or does not exist. */
  get obstacle(): string | null {
    return this.#obstacle;
  }

  /** The first line that is not a row of JSON, as `line 3`; null: there is none so far. */
  get malformed(): string | null {
    return this.#malformed;
  }

  /** Searches a further part. */
  step(): void {
    if (this.#rest === null) this.#begin();
    else this.#continue(this.#rest);
  }

  #begin(): void {
    const opened = openRegular(this.#path);
    if (opened.kind !== 'file') return this.#fail(opened);
    try {
      const { size } = opened.stat;
      const from = Math.max(0, size - STEP);
      const bytes = Buffer.allocUnsafe(size - from);
      const end = bytes.subarray(0, readSync(opened.descriptor, bytes, 0, bytes.length, from));
      // A truncated line is no row; one without a newline may still be complete.
      const cut = from === 0 ? 0 : end.indexOf(NEWLINE) + 1;
      this.#line = from === 0 ? 0 : null;
      this.#isLong = size > WHOLE;
      if (from === 0 || cut > 0) this.#take(end.subarray(cut));
      if (from === 0 || this.#isEnough()) this.#isOver = true;
      else this.#readOn();
    } catch (error) {
      this.#fail(obstacleOf(error));
    } finally {
      closeSync(opened.descriptor);
    }
  }

  #continue(rest: FollowedFile): void {
    const { bytes, more } = rest.read(STEP);
    this.#take(bytes);
    if (rest.skipped > 0) this.#malformed ??= 'a line that is too long';
    this.#obstacle = rest.obstacle;
    this.#isOver = !more || this.#isEnough();
  }

  /** Reads the file from its beginning. A row that was found stays, as a last line without a newline is not read again. */
  #readOn(): void {
    this.#rest = new FollowedFile(this.#path);
    if (this.#wanted === null) this.#rows = [];
    this.#line = 0;
  }

  #isEnough(): boolean {
    return this.#isLong && this.#wanted !== null && this.#rows.length > 0;
  }

  #take(bytes: Buffer): void {
    for (let from = 0; from < bytes.length;) {
      const newline = bytes.indexOf(NEWLINE, from);
      const end = newline < 0 ? bytes.length : newline;
      this.#takeLine(bytes.toString('utf8', from, end), newline < 0);
      from = end + 1;
    }
  }

  /** @param isOpen Whether the line has no newline. */
  #takeLine(line: string, isOpen: boolean): void {
    if (this.#line !== null) this.#line += 1;
    const row = line === '' ? null : this.#rowOf(line);
    if (row === null) this.#complain(line, isOpen);
    else if (this.#wanted === null) this.#rows.push(row);
    else if (this.#rows.length === 0 && this.#wanted(row)) this.#rows.push(row);
  }

  /** Records a malformed line of a JSON file; lines of other files may be anything. */
  #complain(line: string, isOpen: boolean): void {
    if (this.#rowOf !== parseJsonLine || (this.#malformed ?? somewhere) !== somewhere) return;
    if (line.trim() === '' || (isOpen && tornRow.test(line))) return;
    this.#malformed = this.#line === null ? somewhere : `line ${this.#line}`;
  }

  #fail(obstacle: ReturnType<typeof obstacleOf>): void {
    this.#obstacle = obstacle.kind === 'unreadable' ? obstacle.reason : null;
    this.#isOver = true;
  }
}
