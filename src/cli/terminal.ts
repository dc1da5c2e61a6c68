/**
 * The only access to the terminal outside the window.
 *
 * Names, descriptions, keys, log lines, file names and messages of other programs are foreign text: printed unchanged, it could
 * move the cursor, set the title, or fill the clipboard. So all escape sequences are removed from texts; styles are requested with
 * `Painted`, and their sequences are added here. Output to anything but a terminal gets the same text; only output for other
 * programs (`printAnswer`, `printData`) is left unchanged, within the rules of its format.
 */
import type { Readable } from 'node:stream';
import { createInterface } from 'node:readline/promises';
import { cleanText, terminalJson, terminalText } from '../text/display-text.js';
import { truncate } from '../text/display-width.js';
import { type AnswerName, versioned } from './answers/answer-table.js';
import type { Answers } from './answers/schemas.js';
import { own, type OwnProcess } from './ports.js';

/** Text in a style: the parameters of an SGR sequence, such as `1;32`; empty: the terminal's default. */
export type Painted = { readonly text: string; readonly look: string };
export type Line = string | readonly (string | Painted)[];

/** Whether a full screen can be shown: both ends are a terminal that understands cursor addressing. */
export function hasScreen(): boolean {
  return hasPerson() && own().env['TERM'] !== 'dumb';
}

/** Whether a user can be asked: both ends are a terminal, of any kind. */
export function hasPerson(): boolean {
  return isTerminal() && own().stdin.isTTY;
}

/** Whether what is printed goes to a terminal. */
export function isTerminal(): boolean {
  return own().stdout.isTTY;
}

/** The streams of the terminal, for the window, whose painter cleans each cell. */
export function terminalStreams() {
  clearPassing();
  return { stdout: own().stdout, stdin: own().stdin };
}

/** Whether to print in colour: to a terminal with colours, unless the user objects (https://no-color.org). */
export function hasColour(): boolean {
  return isTerminal() && own().env['TERM'] !== 'dumb' && (own().env['NO_COLOR'] ?? '') === '';
}

/** Width of the layout in columns. For a file or a pipe it is COLUMNS, or else `otherwise`. */
export function outputWidth(otherwise = 140): number {
  if (isTerminal()) return own().stdout.columns;
  const asked = Number(own().env['COLUMNS'] ?? '');
  return Number.isInteger(asked) && asked > 0 ? asked : otherwise;
}

/** Columns and rows of the terminal; null: there is none. */
export function terminalSize(): { columns: number; rows: number } | null {
  const { columns, rows } = own().stdout;
  return isTerminal() ? { columns, rows } : null;
}

/** Prints lines. @throws {OutputLost} As all functions here, when the output cannot be written. */
export function print(lines: readonly Line[]): void {
  write(lines.map((line) => `${safeLine(line)}\n`).join(''));
}

/** Prints text without adding a newline. */
export function printPart(text: string | Painted): void {
  write(safePiece(text));
}

/** Prints a message to stderr. */
export function remark(line: Line): void {
  try {
    clearPassing();
    own().stderr.write(`${safeLine(line)}\n`);
  } catch {
    // stderr is closed, so nobody reads it.
  }
}

/** Processes whose terminal shows a passing line. */
const passing = new WeakSet<OwnProcess>();

/** Shows what is being done on a line of the terminal that the next output replaces. Nothing where there is no screen. */
export function passingLine(text: string): void {
  if (!hasScreen()) return;
  passing.delete(own());
  write(`\r\u001b[K${truncate(cleanText(text), outputWidth() - 1)}`);
  passing.add(own());
}

function clearPassing(): void {
  if (passing.delete(own())) own().stdout.write('\r\u001b[K');
}

/**
 * Prints the answer of `--json`, with its version. It is also safe on a terminal: characters of escape sequences are escaped.
 * `replacer`: as in `JSON.stringify`.
 */
export function printAnswer<Name extends AnswerName>(
  name: Name,
  answer: Answers[Name],
  replacer?: (key: string, value: unknown) => unknown,
): void {
  write(`${terminalJson(JSON.stringify(versioned(name, answer), replacer, 2))}\n`);
}

/** Prints text in a format for other programs, unchanged except on a terminal. Resolves when there is room for more. */
export async function printData(text: string): Promise<void> {
  if (!write(isTerminal() ? terminalText(text) : text)) await printed();
}

/** Resolves once all output has been written. */
export function printed(): Promise<void> {
  return new Promise((resolve) => own().stdout.write('', () => resolve()));
}

/** Prints bytes of unknown origin; not for a terminal. */
export function printBytes(bytes: Uint8Array): void {
  if (isTerminal()) throw new Error('Raw bytes may not be written to a terminal.');
  write(bytes);
}

/** Passes on unchanged what a program prints that has this terminal, or these pipes, as its own. */
export function passOn(output: Readable): void {
  output.pipe(own().stdout, { end: false });
}

/** The same beside the output. */
export function remarkBytes(bytes: Uint8Array): void {
  own().stderr.write(bytes);
}

/** Asks the user at the terminal; empty: there is no answer. */
export async function ask(question: string): Promise<string> {
  clearPassing();
  const terminal = createInterface({ input: own().stdin, output: own().stdout });
  // Ctrl-D and Ctrl-C count as no answer.
  const left = new Promise<string>((resolve) => terminal.once('close', () => resolve('')));
  const answer = await Promise.race([terminal.question(terminalText(question)), left]);
  terminal.close();
  return answer;
}

/** Exits once all output has been written, even if other work is pending. */
export function leave(exitCode: number): void {
  own().stdout.write('', () => own().exit(exitCode));
}

/** Calls back when the output turns out not to have been written. */
export function onOutputLost(listener: (lost: OutputLost) => void): void {
  own().stdout.on('error', (error: NodeJS.ErrnoException) => listener(new OutputLost(error)));
  own().stderr.on('error', () => undefined);
}

/** A line with no escape sequences but those of its styles. */
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
    clearPassing();
    return own().stdout.write(text);
  } catch (error) {
    throw new OutputLost(error as NodeJS.ErrnoException);
  }
}

/** The output could not be written: the disk is full, the terminal is closed, or the reader has exited. */
export class OutputLost extends Error {
  override readonly name = 'OutputLost';
  /** Whether the reader exited, as `| head` does, which is no error. */
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
