import { createContext, Script } from 'node:vm';
import { shortened } from '../../base/shortened.js';
import { UserError } from '../../base/user-error.js';

/** More than any sensible expression takes for a batch of lines, ms. */
const PATIENCE_MS = 3000;

/**
 * Which texts match an expression of a person's. Some expressions take years for a line of forty characters (`(a+)+$`): only
 * a script with a time limit can be interrupted in the middle of one.
 *
 * @throws {UserError} When the texts of one call take longer than that.
 */
export function lineFilter(pattern: RegExp): (texts: readonly string[]) => readonly boolean[] {
  const context = createContext({ pattern, texts: [] as readonly string[] });
  const script = new Script('texts.map((text) => pattern.test(text))');
  return (texts) => {
    context['texts'] = texts;
    try {
      return script.runInContext(context, { timeout: PATIENCE_MS }) as boolean[];
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw cause;
      throw new UserError(
        `--grep ${shortened(pattern.source)} takes too long: ${PATIENCE_MS / 1000} s were not enough for ${texts.length} lines.`,
        'Write it without a repetition of a repetition, such as (a+)+: a+ finds the same lines.',
        { cause },
      );
    }
  };
}
