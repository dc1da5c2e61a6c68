/**
 * The one door to the terminal for all that the program says outside its window.
 *
 * Names, descriptions, keys, log lines, file names and the messages of other programs are foreign text: printed as it is, it
 * could move the cursor, set the title, fill the clipboard. So no text passes with codes in it; a look is asked for by `Painted`,
 * and its codes are written here. What is no terminal gets the same text; only what other programs read (`printJson`,
 * `printData`) stays as it is, with the means of its own format.
 */
import { createInterface } from 'node:readline/promises';
import { terminalJson, terminalText } from '../text/display-text.js';

/** Text in a look of ours: the parameters of an SGR sequence, such as `1;32`; empty: the terminal's own. */
export type Painted = { readonly text: string; readonly look: string };
export type Line = string | readonly (string | Painted)[];

/** Whether a full screen can be shown: both ends are a terminal that understands cursor addressing. */
export function hasScreen(): boolean {
  return hasPerson() && process.env['TERM'] !== 'dumb';
}

/** Whether a person is there to be asked: both ends are a terminal, of whatever kind. */
export function hasPerson(): boolean {
  return isTerminal() && process.stdin.isTTY;
}

/** Whether what is printed goes to a terminal. */
export function isTerminal(): boolean {
  return process.stdout.isTTY;
}

/** Whether to write in colour: a terminal that knows colours, and nobody objects (https://no-color.org). */
export function hasColour(): boolean {
  return isTerminal() && process.env['TERM'] !== 'dumb' && (process.env['NO_COLOR'] ?? '') === '';
}

/** Columns to lay text out in. A file or a pipe has as many as COLUMNS says, `otherwise` where it says nothing: it scrolls sideways. */
export function outputWidth(otherwise = 140): number {
  if (isTerminal()) return process.stdout.columns;
  const asked = Number(process.env['COLUMNS'] ?? '');
  return Number.isInteger(asked) && asked > 0 ? asked : otherwise;
}

/** Columns and rows of the terminal; null: it is none. */
export function terminalSize(): { columns: number; rows: number } | null {
  const { columns, rows } = process.stdout;
  return isTerminal() ? { columns, rows } : null;
}

/** @throws {OutputLost} As everything here that prints, where what is printed cannot be written. */
export function print(lines: readonly Line[]): void {
  write(lines.map((line) => `${safeLine(line)}\n`).join(''));
}

/** Text that goes on, or ends its lines by itself. */
export function printPart(text: string | Painted): void {
  write(safePiece(text));
}

/** Words about the output that are no part of it. */
export function remark(line: Line): void {
  try {
    process.stderr.write(`${safeLine(line)}\n`);
  } catch {
    // Nobody is there to be told.
  }
}

/** For programs, and safe on a terminal too: what could be taken for codes is escaped. `replacer`: as of `JSON.stringify`. */
export function printJson(value: unknown, replacer?: (key: string, value: unknown) => unknown): void {
  write(`${terminalJson(JSON.stringify(value, replacer, 2))}\n`);
}

/** Text of a format that other programs read: as it is, save on a terminal. Resolves when there is room for more. */
export async function printData(text: string): Promise<void> {
  if (!write(isTerminal() ? terminalText(text) : text)) await printed();
}

/** Resolves once all that was printed is out. */
export function printed(): Promise<void> {
  return new Promise((resolve) => process.stdout.write('', () => resolve()));
}

/** Bytes of unknown origin: not for a terminal. */
export function printBytes(bytes: Uint8Array): void {
  if (isTerminal()) throw new Error('Raw bytes may not be written to a terminal.');
  write(bytes);
}

/** Asks the person at the terminal; empty when there is no answer. */
export async function ask(question: string): Promise<string> {
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  // Ctrl-D and Ctrl-C are no answer.
  const left = new Promise<string>((resolve) => terminal.once('close', () => resolve('')));
  const answer = await Promise.race([terminal.question(terminalText(question)), left]);
  terminal.close();
  return answer;
}

/** Ends the program once what was printed is out, whatever it still waits for. */
export function leave(exitCode: number): void {
  process.stdout.write('', () => process.exit(exitCode));
}

/** Calls back when what was printed turns out not to have been written. */
export function onOutputLost(listener: (lost: OutputLost) => void): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => listener(new OutputLost(error)));
  process.stderr.on('error', () => undefined);
}

/** A line with no codes in it but those of its looks. */
export function safeLine(line: Line): string {
  return typeof line === 'string' ? terminalText(line) : line.map(safePiece).join('');
}

function safePiece(piece: string | Painted): string {
  if (typeof piece === 'string') return terminalText(piece);
  const text = terminalText(piece.text);
  return piece.look === '' ? text : `\u001b[${piece.look.replace(/[^\d;]/g, '')}m${text}\u001b[0m`;
}

function write(text: string | Uint8Array): boolean {
  try {
    return process.stdout.write(text);
  } catch (error) {
    throw new OutputLost(error as NodeJS.ErrnoException);
  }
}

/** What was printed could not be written: the disk is full, the terminal is gone, the reader has left. */
export class OutputLost extends Error {
  override readonly name = 'OutputLost';
  /** The reader went away, as `| head` does: no error of anybody. */
  readonly hasReaderLeft: boolean;

  constructor({ code, message }: NodeJS.ErrnoException) {
    super(`The output could not be written: ${reasons[code ?? ''] ?? message}.`);
    this.hasReaderLeft = code === 'EPIPE';
  }
}

const reasons: Readonly<Record<string, string>> = {
  ENOSPC: 'no space is left there (ENOSPC)',
  EDQUOT: 'the quota is used up (EDQUOT)',
  EFBIG: 'the file may not become larger (EFBIG)',
  EIO: 'the terminal or the disk is gone (EIO)',
};
