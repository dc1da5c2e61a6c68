/**
 * The standard input of a run that reads typed lines: a pipe in the directory of its attempt (`attempts/1/stdin`).
 *
 * The run itself has the pipe open for reading and writing, so a read waits for the next line and never finds the end of the input,
 * and no process of ours has to live for that. A typed line is also appended to the log of the run, as a terminal would show it:
 * without it, the output that follows a prompt would continue the line of the prompt.
 */
import { closeSync, constants, fstatSync, lstatSync, openSync, statSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { runFiles } from '../../contract/files.js';
import { openForAppending } from '../../files/regular-file.js';
import type { AttemptPlace } from '../../files/run-directory/own-directory.js';
import { readProcFile } from '../../processes/proc-file.js';
import { attemptDirectory } from '../attempt/attempt-files.js';

/** Largest size of a line, with its newline, in bytes: the system writes it into a pipe as a whole or not at all. */
const LARGEST_LINE = 4096;

/** Why a line cannot be typed into any run, in words that follow the name of the run; null: it can. A terminal cuts longer ones. */
export function lengthProblem(line: string): string | null {
  return Buffer.byteLength(line) < LARGEST_LINE
    ? null
    : `cannot be given a line of more than ${LARGEST_LINE - 1} bytes`;
}

/** Whether an attempt has such a standard input. */
export function hasTypedInput(which: AttemptPlace): boolean {
  try {
    return lstatSync(pathOf(which), { throwIfNoEntry: false })?.isFIFO() === true;
  } catch {
    // A run may put anything in the place of its directory: without a path, there is nothing to type into.
    return false;
  }
}

/** Types a line. Returns why that is impossible, in words that follow the name of the run; null: the line is there to be read. */
export function typeLine(which: AttemptPlace, line: string): string | null {
  const text = `${line}\n`;
  const opened = openedForTyping(which);
  if (typeof opened === 'string') return opened;
  try {
    echo(which, text);
    writeSync(opened, text);
    return null;
  } catch (error) {
    const why = (error as NodeJS.ErrnoException).code === 'EAGAIN' ? 'does not read what is typed' : String(error);
    echo(which, `memrl-tui: not typed, as it ${why}\n`);
    return why;
  } finally {
    closeSync(opened);
  }
}

function pathOf({ directory, number }: AttemptPlace): string {
  return join(attemptDirectory(directory, number), runFiles.stdin);
}

/** A descriptor that never waits, or why there is none. */
function openedForTyping(which: AttemptPlace): number | string {
  if (!hasTypedInput(which)) return 'has no standard input to type into';
  try {
    const { O_WRONLY, O_NONBLOCK, O_NOFOLLOW } = constants;
    const descriptor = openSync(pathOf(which), O_WRONLY | O_NONBLOCK | O_NOFOLLOW);
    if (fstatSync(descriptor).isFIFO()) return descriptor;
    closeSync(descriptor);
    return 'has no standard input to type into';
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code === 'ENXIO' ? 'has closed its standard input' : `cannot be typed into: ${code}`;
  }
}

/** Appends to the log of the run, if possible: a full disk must not keep a person from typing. */
function echo({ directory }: AttemptPlace, text: string): void {
  try {
    const opened = openForAppending(join(directory, runFiles.log));
    if (opened.kind !== 'file') return;
    writeFileSync(opened.descriptor, text);
    closeSync(opened.descriptor);
  } catch {
    // The line is typed all the same.
  }
}

/** The number of the system call `read`. Others can wait for input, too (`poll`), but do not say what they wait for. */
const readCalls: Readonly<Partial<Record<NodeJS.Architecture, string>>> = { x64: '0', arm64: '63' };
const readCall = readCalls[process.arch];

/**
 * Whether the main thread of one of these processes waits in `read` on its standard input, and that is the attempt's pipe. Takes
 * 20 µs for each process. False where the system does not tell: on macOS, or where calls of other processes may not be seen.
 */
export function isReadingInput(which: AttemptPlace, pids: Iterable<number>): boolean {
  for (const pid of pids) if (isReading(pid) && isSameFile(`/proc/${pid}/fd/0`, pathOf(which))) return true;
  return false;
}

/** `0 0x0 …`: number of the call, then its arguments, of which the first is the descriptor; `running` if the process does not wait. */
function isReading(pid: number): boolean {
  const [call, descriptor] = readProcFile(`/proc/${pid}/syscall`)?.toString().split(' ', 2) ?? [];
  return call !== undefined && call === readCall && descriptor === '0x0';
}

function isSameFile(one: string, other: string): boolean {
  try {
    const [a, b] = [statSync(one), statSync(other)];
    return a.ino === b.ino && a.dev === b.dev;
  } catch {
    return false;
  }
}
