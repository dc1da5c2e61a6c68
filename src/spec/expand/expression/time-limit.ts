import { Script } from 'node:vm';
import { UserError } from '../../../base/user-error.js';

/** For what a person waits that has written a file, ms: 200,000 runs are worked out in a third of that. */
export const fileMs = 20_000;

/** The work of `withinTime`, as far as the script below can see it. */
const key = Symbol.for('memrl-tui within time');
const script = new Script(`globalThis[Symbol.for('memrl-tui within time')]()`);

let isLimited = false;
/** The expression that is being checked or evaluated. */
let inHand: string | null = null;

/** The expression is being worked on; if the time is over meanwhile, it is the one to name. */
export function workOn<Result>(source: string, work: () => Result): Result {
  const before = inHand;
  inHand = source;
  try {
    return work();
  } finally {
    inHand = before;
  }
}

/**
 * Ends work that computes for longer than `limitMs`, at whatever it is: V8 itself keeps the time. It costs .1 ms. What is called
 * within the work has the time of the whole.
 *
 * @param what What the time is for, at the beginning of a sentence.
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

function overtime(what: string, limitMs: number): UserError {
  const problem = `${what} took more than ${limitMs / 1000} s`;
  if (inHand === null) return new UserError(`${problem}.`, 'Make its runs fewer.');
  const shown = inHand.length > SHOWN ? `${inHand.slice(0, SHOWN)}…` : inHand;
  return new UserError(
    `${problem}, and was at the expression \`${shown}\`.`,
    'Use shorter lists and texts in it, or fewer inside one another; or make its runs fewer.',
  );
}

/** Characters of an expression in a message. */
const SHOWN = 100;
