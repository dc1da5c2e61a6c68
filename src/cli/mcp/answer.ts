import { reportError } from '../report-error.js';
import type { Printed } from './command.js';
import { fitted } from './fitted.js';

/** What a tool answers. `isError`: nothing was done, and the text says why. */
export type Answer = { readonly text: string; readonly isError?: true };

/** Why a command was refused, as `--json` prints it. */
export type CommandError = { readonly code: string; readonly message: string; readonly fix: string | null };

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
const answered = [0, 3, 124];
/** The codes of errors by the other exit codes. */
const codes: Readonly<Record<number, string>> = { 1: 'bug', 4: 'no-such-sweep', 5: 'no-such-run' };

/** The text that a command printed. @throws {Refused} */
export function textOf({ code, out, err }: Printed): string {
  if (answered.includes(code)) return out;
  throw new Refused(errorIn(out) ?? errorInWords(err, codes[code] ?? 'refused'));
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
    const { error } = JSON.parse(out) as { error?: CommandError };
    return error === undefined ? null : { code: error.code, message: error.message, fix: error.fix };
  } catch {
    return null;
  }
}

/** The same from the words for a person: the problem, an empty line, and what to do. */
function errorInWords(err: string, code: string): CommandError {
  const [message = '', fix] = err.trim().split('\n\n→ ');
  return { code, message, fix: fix ?? null };
}
