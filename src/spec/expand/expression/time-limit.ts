import process from 'node:process';
import { Script } from 'node:vm';
import { UserError } from '../../../base/user-error.js';

/** Time limit for the expressions of a sweep file, ms: 200,000 runs take a third of that. */
export const fileMs = 20_000;

/** How often work is begun, at most, where the machine is so busy that the limit passes without half of it being computed. */
const MOST_ATTEMPTS = 20;

/** The global key under which the script finds the work of `withinTime`. */
const key = Symbol.for('memrl-tui within time');
const script = new Script(`globalThis[Symbol.for('memrl-tui within time')]()`);

let isLimited = false;
/** The expression that is being checked or evaluated, or was last: a point of many may end between two of its expressions. */
let inHand: string | null = null;

/** Marks an expression as the current one, which the error names if the time runs out. */
export function workOn<Result>(source: string, work: () => Result): Result {
  const before = inHand;
  inHand = source;
  try {
    return work();
  } finally {
    inHand = before ?? source;
  }
}

/**
 * Interrupts work that takes longer than `limitMs`, anywhere in it, by V8's own timeout. A call costs .1 ms. A call within the work
 * is covered by the outer limit.
 *
 * @param what What is limited, at the beginning of a sentence.
 * @throws {UserError} When the time is over.
 */
export function withinTime<Result>(what: string, limitMs: number, work: () => Result): Result {
  if (isLimited) return work();
  const world = globalThis as { [key]?: () => Result };
  world[key] = work;
  isLimited = true;
  inHand = null;
  try {
    return script.runInThisContext({ timeout: limitMs }) as Result;
  } catch (error) {
    if ((error as { code?: unknown }).code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw error;
    throw overtime(what, limitMs);
  } finally {
    isLimited = false;
    delete world[key];
  }
}

/**
 * As `withinTime`, for work that changes nothing: it is begun again where other programs had most of the time, which is no fault of
 * an expression.
 */
export function withinComputingTime<Result>(what: string, limitMs: number, work: () => Result): Result {
  for (let attempt = 1; ; attempt++) {
    const before = process.cpuUsage();
    try {
      return withinTime(what, limitMs, work);
    } catch (error) {
      const { user, system } = process.cpuUsage(before);
      const isBusyElsewhere = error instanceof UserError && (user + system) / 1000 < limitMs / 2;
      if (!isBusyElsewhere || attempt === MOST_ATTEMPTS) throw error;
    }
  }
}

function overtime(what: string, limitMs: number): UserError {
  const problem = `${what} took more than ${limitMs / 1000} s`;
  if (inHand === null) return new UserError(`${problem}.`, 'Make its runs fewer.');
  const shown = inHand.length > SHOWN ? `${inHand.slice(0, SHOWN)}…` : inHand;
  return new UserError(
    `${problem}, and was at the expression \`${shown}\`.`,
    'Use shorter lists and texts in it, or fewer inside one another; or make its runs fewer.',
  );
}

/** Length limit of an expression in a message, in characters. */
const SHOWN = 100;
