import { systemRefusal, UserError } from '../../base/user-error.js';
import { errorExits, exitCodes } from './exit-codes.js';
import type { Answers } from './schemas.js';
import { OutputLost } from '../terminal.js';

/**
 * `text`: what to print; null: nothing. `error`: the same for programs that asked for JSON; null: it is no error, or there is no output
 * that they could read.
 */
type Reported = {
  readonly text: string | null;
  readonly exitCode: number;
  readonly error: Omit<Answers['error']['error'], 'exitCode'> | null;
};

export function reportError(error: unknown): Reported {
  if (error instanceof UserError) {
    const { message, fix, code } = error;
    return { text: `${message}\n\n→ ${fix}`, exitCode: errorExits[code], error: { code, message, fix } };
  }
  if (error instanceof OutputLost) {
    if (error.hasReaderLeft) return { text: null, exitCode: exitCodes.done, error: null };
    return { text: error.message, exitCode: exitCodes.refused, error: null };
  }
  const refusal = systemRefusal(error);
  if (refusal !== null) return failed('system', refusal);
  const stack = error instanceof Error ? error.stack : String(error);
  return failed(
    'bug',
    `This is a bug in memrl-tui, not in your sweep. Please report it with the lines below.\n${stack}`,
  );
}

function failed(code: 'bug' | 'system', message: string): Reported {
  return { text: message, exitCode: errorExits[code], error: { code, message, fix: null } };
}
