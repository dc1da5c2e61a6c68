/**
 * The exit code that a shim noted; null when it has not (yet).
 *
 * It is in the file of its own. Where the disk had no room for that file, it is the last line of `pid`, which is there
 * since the start and has room left in its last block: `exit 3`.
 *
 * @param exit Text of the attempt's `exit`; null: no such file.
 * @param pid Reads the attempt's `pid`, asked only where the other does not say it.
 */
export function exitCodeIn(exit: string | null, pid: () => string | null): number | null {
  if (exit !== null && /^\d+\n$/.test(exit)) return Number(exit);
  const noted = /\nexit (\d+)\n$/.exec(pid() ?? '')?.[1];
  return noted === undefined ? null : Number(noted);
}
