import { UserError } from '../base/user-error.js';

/** What to print, and the exit code: 2 when the user can mend it, 1 when it is our bug. */
export function reportError(error: unknown): { text: string; exitCode: 1 | 2 } {
  if (error instanceof UserError) return { text: `${error.message}\n\n→ ${error.fix}`, exitCode: 2 };
  const stack = error instanceof Error ? error.stack : String(error);
  return {
    text: `This is a bug in memrl-tui, not in your sweep. Please report it with the lines below.\n${stack}`,
    exitCode: 1,
  };
}
