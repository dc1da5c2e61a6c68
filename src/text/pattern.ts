import { RE2JS, RE2JSException } from 're2js';

/** What is wrong with a pattern, in words. */
export class PatternError extends Error {
  override readonly name = 'PatternError';
}

/** States of the machine of a pattern: what one character of a text costs at most. */
const mostStates = 1000;
/** Characters of a pattern: to read a longer one takes a moment by itself. */
const LONGEST = 1000;

/**
 * A regular expression of a person: the syntax of RE2, which has no look-around and no references to groups. Whatever it is, the
 * time to look through a text grows no faster than the text, where JavaScript's own would take for ever for `^(a+)+$`.
 *
 * @throws {PatternError}
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

/** The same; null: it is none. Of a plan that another version of this program has let through. */
export function patternOrNull(source: string): RE2JS | null {
  const pattern = patternOrFault(source);
  return typeof pattern === 'string' ? null : pattern;
}

/** What is wrong with the pattern, in words; null: nothing. */
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
