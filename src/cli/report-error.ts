import { systemRefusal } from '../base/system-refusal.js';
import { UserError } from '../base/user-error.js';
import { OutputLost } from './terminal.js';

/** What to print, and the exit code: 2 when the user can fix it, 1 for a bug, 0 if it is no error. */
type Reported = { readonly text: string | null; readonly exitCode: 0 | 1 | 2 };

export function reportError(error: unknown): Reported {
  if (error instanceof UserError) return { text: `${error.message}\n\n→ ${error.fix}`, exitCode: 2 };
  if (error instanceof OutputLost) {
    return error.hasReaderLeft ? { text: null, exitCode: 0 } : { text: error.message, exitCode: 2 };
  }
  const refusal = systemRefusal(error);
  if (refusal !== null) return { text: refusal, exitCode: 2 };
  const stack = error instanceof Error ? error.stack : String(error);
  return {
    text: `This is a bug in memrl-tui, not in your sweep. Please report it with the lines below.\n${stack}`,
    exitCode: 1,
  };
}
