import { UserError } from '../../base/user-error.js';

/** What to do about what the system says, by its code. */
const fixes: Record<string, string> = {
  EROFS: 'Mount that file system for writing, or choose another runs directory with `--runs DIR`.',
  // What Node says of a folder that it cannot make on a read-only file system.
  ENOENT: 'It cannot be made there: mount that file system for writing, or choose another with `--runs DIR`.',
  EACCES: 'Get the right to write there, or choose another runs directory with `--runs DIR`.',
  EPERM: 'Get the right to write there, or choose another runs directory with `--runs DIR`.',
  ENOTDIR: 'A part of that path is a file: remove it, or choose another runs directory with `--runs DIR`.',
  ENOSPC: 'Free some space there; what was running goes on meanwhile.',
  EDQUOT: 'Free some of your quota; what was running goes on meanwhile.',
  EMFILE: 'Raise `ulimit -n`; what was running goes on meanwhile.',
  ENFILE: 'The machine has too many open files: close some; what was running goes on meanwhile.',
};

/** The same in words for a person when the system refused what every supervisor needs; all else is returned as it is. */
export function startProblem(error: unknown): unknown {
  const { code, message } = (error ?? {}) as NodeJS.ErrnoException;
  if (error instanceof UserError || typeof code !== 'string' || typeof message !== 'string') return error;
  const fix = fixes[code];
  if (fix === undefined) return error;
  return new UserError(`The supervisor cannot do its work: ${message}.`, fix, { cause: error });
}
