import { Readable, Writable } from 'node:stream';
import { errorExits, exitCodes } from '../answers/exit-codes.js';
import { reportError } from '../answers/report-error.js';
import type { Answers } from '../answers/schemas.js';
import type { OwnProcess, Ports } from '../ports.js';
import type { WholeProgram } from '../verb.js';
import { fitted } from './fitted.js';

/** The output of a command, and its exit code. */
export type Printed = { readonly code: number; readonly out: string; readonly err: string };

/** Who waits for a command, and may give it up. */
export type Caller = Pick<OwnProcess, 'onProgress'> & { readonly signal?: AbortSignal };

/** Runs a command line of memrl-tui in this process and collects what it prints. */
export type RunCommand = (words: readonly string[], caller?: Caller) => Promise<Printed>;

/** @param around The process of the server, whose environment and working directory the commands share. */
export function commandsIn({ process, programs }: Ports, main: WholeProgram['main']): RunCommand {
  return async (words, { signal, onProgress } = {}) => {
    const [out, err] = [new Collected(), new Collected()];
    const ended = new AbortController();
    const abandoned = signal === undefined ? ended.signal : AbortSignal.any([signal, ended.signal]);
    const exited = new Promise<number>((resolve) => ended.signal.addEventListener('abort', () => resolve(code)));
    let code = 0;
    const own = {
      env: process.env,
      cwd: () => process.cwd(),
      // A command that leaves something pending calls it; the process goes on.
      exit: (asked: number) => {
        code = asked;
        ended.abort();
      },
      once: () => undefined,
      ...{ stdin: Readable.from([]), stdout: out, stderr: err, abandoned, onProgress },
    };
    // Neither end of it is a terminal, whose properties are absent.
    const ports = { process: own as unknown as OwnProcess, programs };
    const last = await Promise.race([main(words, ports), exited]);
    return { code: last, out: out.text(), err: err.text() };
  };
}

/** Keeps what is written to it. */
export class Collected extends Writable {
  readonly #chunks: Buffer[] = [];

  override _write(chunk: Buffer, _encoding: string, written: () => void): void {
    this.#chunks.push(chunk);
    written();
  }

  text(): string {
    return Buffer.concat(this.#chunks).toString('utf8');
  }
}

/** What a tool answers. `isError`: nothing was done, and the text says why. */
export type Answer = { readonly text: string; readonly isError?: true };

/** Why a command was refused, as `--json` prints it. */
type CommandError = Omit<Answers['error']['error'], 'exitCode'>;

/** A command that was refused. */
export class Refused extends Error {
  override readonly name = 'Refused';
  readonly error: CommandError;

  constructor(error: CommandError) {
    super(error.message);
    this.error = error;
  }
}

/** Exit codes of commands that have answered: all is done, some runs are not, the time was up. */
const answered: readonly number[] = [exitCodes.done, exitCodes.undone, exitCodes.timedOut];

/** The text that a command printed. @throws {Refused} */
export function textOf({ code, out, err }: Printed): string {
  if (answered.includes(code)) return out;
  throw new Refused(errorIn(out) ?? errorInWords(err, code));
}

/** The JSON that a command printed, with its remarks. @throws {Refused} */
export function jsonIn(printed: Printed): { readonly value: unknown; readonly notes: readonly string[] } {
  return { value: JSON.parse(textOf(printed)) as unknown, notes: notesOf(printed) };
}

/** The remarks that a command printed beside its answer, on stderr. */
export function notesOf({ err }: Printed): string[] {
  return err.split('\n').filter((line) => line.trim() !== '');
}

/** An object as an answer, with the remarks of its commands. `narrow`: as in `fitted`. */
export function jsonAnswer(value: object, notes: readonly string[], narrow: (kept: number) => string): Answer {
  return { text: fitted(notes.length === 0 ? value : { ...value, notes }, narrow) };
}

/** Anything that was thrown, as the answer of a tool. */
export function errorAnswer(thrown: unknown): Answer {
  const error = thrown instanceof Refused ? thrown.error : reportError(thrown).error;
  return { text: fitted({ error }, () => ''), isError: true };
}

function errorIn(out: string): CommandError | null {
  try {
    const { error } = JSON.parse(out) as Partial<Answers['error']>;
    return error === undefined ? null : { code: error.code, message: error.message, fix: error.fix };
  } catch {
    return null;
  }
}

/** The same from the words for a person: the problem, an empty line, and what to do. */
function errorInWords(err: string, exitCode: number): CommandError {
  const named = Object.entries(errorExits).find(([, exit]) => exit === exitCode)?.[0] as
    | CommandError['code']
    | undefined;
  const [message = '', fix] = err.trim().split('\n\n→ ');
  return { code: named ?? 'refused', message, fix: fix ?? null };
}
