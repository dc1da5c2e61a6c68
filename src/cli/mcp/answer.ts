import { errorExits, exitCodes } from '../answers/exit-codes.js';
import type { Answers } from '../answers/schemas.js';
import { reportError } from '../answers/report-error.js';
import type { Printed } from './command.js';
import { fitted } from './fitted.js';

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
