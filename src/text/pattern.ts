import { RE2JS, RE2JSException } from 're2js';

/** A pattern is invalid; the message says why. */
export class PatternError extends Error {
  override readonly name = 'PatternError';
}

/** Limit on the states of a compiled pattern, as each character of a text may take that many steps. */
const mostStates = 1000;
/** Length limit of a pattern in characters, as parsing a longer one takes noticeable time. */
const LONGEST = 1000;

/**
 * Compiles a user's regular expression in the syntax of RE2, which has no look-around and no back references. It always runs in
 * linear time, where JavaScript's own takes exponential time for `^(a+)+$`.
 *
 * @throws {PatternError} When the pattern is invalid.
 */
export function compiledPattern(source: string): RE2JS {
  if (source.length > LONGEST) throw new PatternError(`it has more than ${LONGEST} characters`);
  try {
    const pattern = RE2JS.compile(source);
    if (pattern.programSize() > mostStates) throw new PatternError(`it has more than ${mostStates} states`);
    return pattern;
  } catch (error) {
    if (!(error instanceof RE2JSException)) throw error;
    throw new PatternError(error.message.replace(/^error parsing regexp: /, ''), { cause: error });
  }
}

/** Compiles a pattern; null: it is invalid. For plans that another version of this program has accepted. */
export function patternOrNull(source: string): RE2JS | null {
  const pattern = patternOrFault(source);
  return typeof pattern === 'string' ? null : pattern;
}

/** What is wrong with a pattern, in words; null: it is valid. */
export function patternFault(source: string): string | null {
  const pattern = patternOrFault(source);
  return typeof pattern === 'string' ? pattern : null;
}

function patternOrFault(source: string): RE2JS | string {
  try {
    return compiledPattern(source);
  } catch (error) {
    if (error instanceof PatternError) return error.message;
    throw error;
  }
}
