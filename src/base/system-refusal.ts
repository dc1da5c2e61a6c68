/**
 * Describes an error of the operating system that the machine, the disk or missing rights cause. Null: the error is of another
 * kind.
 */
export function systemRefusal(error: unknown): string | null {
  if (!(error instanceof Error)) return null;
  const { code, syscall, path } = error as NodeJS.ErrnoException;
  if (code === undefined || syscall === undefined) return null;
  if (syscall.endsWith('cwd')) {
    return 'The current directory no longer exists.\n\n→ Change to one that does (`cd`) and try again.';
  }
  const reason = refusals[code];
  if (reason === undefined) return null;
  const what = path === undefined ? syscall : `${syscall} ${path}`;
  return `The system refused: ${what}: ${reason} (${code}).\n\n→ Fix the cause and try again.`;
}

/**
 * Errors caused by the machine, the disk or the user's rights. Errors that only a bug can cause (EBADF, EINVAL) are not among them.
 */
const refusals: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EROFS: 'the file system is read-only',
  ENOSPC: 'the disk is full, or all file watches are used up',
  EDQUOT: 'the disk quota is used up',
  EMFILE: 'too many files are open',
  ENFILE: 'too many files are open on this machine',
  ENOMEM: 'there is no memory left',
  EAGAIN: 'there are no processes or no memory left',
  EIO: 'the disk reports an error',
  ESTALE: 'the network file system no longer knows it',
  ETIMEDOUT: 'the file system does not answer',
  ELOOP: 'symbolic links lead in a circle',
  ENAMETOOLONG: 'the path is too long',
  ENOTDIR: 'a part of the path is not a directory',
  EISDIR: 'it is a directory',
  ENOENT: 'it does not exist',
  EEXIST: 'it already exists',
  EBUSY: 'it is in use',
  ETXTBSY: 'it is in use',
};
