/**
 * What the system says that it cannot or may not do, in words: the machine is not as it must be, whoever met it first. Null:
 * this is another error.
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

/** By the machine, the disk or the rights of the person. What is wrong only in our eyes (EBADF, EINVAL) is a bug. */
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
