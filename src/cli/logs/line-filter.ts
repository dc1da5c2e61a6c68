import { shortened } from '../../text/shortened.js';
import { UserError } from '../../base/user-error.js';
import { matchWithin } from '../../logs/bounded-match.js';

/** More than any sensible expression takes for a batch of lines, ms. */
const PATIENCE_MS = 3000;

/**
 * Which texts match an expression of a person's.
 *
 * @throws {UserError} When the texts of one call take too long.
 */
export function lineFilter(pattern: RegExp): (texts: readonly string[]) => readonly boolean[] {
  return (texts) => {
    const matched = matchWithin(() => texts.map((text) => pattern.test(text)), PATIENCE_MS);
    if (matched.kind === 'matched') return matched.value;
    throw new UserError(
      `--grep ${shortened(pattern.source)} takes too long: ${PATIENCE_MS / 1000} s were not enough for ${texts.length} lines.`,
      'Write it without a repetition of a repetition, such as (a+)+: a+ finds the same lines.',
    );
  };
}
