import { systemRefusal } from '../base/system-refusal.js';
import { type ErrorCode, UserError } from '../base/user-error.js';
import { OutputLost } from './terminal.js';

/** `text`: what to print; null: nothing. `error`: the same for programs that asked for JSON; null: it is no error. */
type Reported = {
  readonly text: string | null;
  readonly exitCode: number;
  readonly error: {
    readonly code: ErrorCode | 'bug' | 'system' | 'output-lost';
    readonly message: string;
    readonly fix: string | null;
  } | null;
};

/** Exit codes of what users can fix; 1 is a bug. */
const exitCodes: Readonly<Record<ErrorCode, number>> = { refused: 2, 'no-such-sweep': 4, 'no-such-run': 5 };

export function reportError(error: unknown): Reported {
  if (error instanceof UserError) {
    const { message, fix, code } = error;
    return { text: `${message}\n\n→ ${fix}`, exitCode: exitCodes[code], error: { code, message, fix } };
  }
  if (error instanceof OutputLost) {
    if (error.hasReaderLeft) return { text: null, exitCode: 0, error: null };
    return failed('output-lost', error.message, 2);
  }
  const refusal = systemRefusal(error);
  if (refusal !== null) return failed('system', refusal, 2);
  const stack = error instanceof Error ? error.stack : String(error);
  return failed(
    'bug',
    `This is a bug in memrl-tui, not in your sweep. Please report it with the lines below.\n${stack}`,
    1,
  );
}

function failed(code: 'bug' | 'system' | 'output-lost', message: string, exitCode: number): Reported {
  return { text: message, exitCode, error: { code, message, fix: null } };
}
