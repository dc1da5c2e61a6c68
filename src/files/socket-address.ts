import { createHash } from 'node:crypto';
import { lstatSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import { UserError } from '../base/user-error.js';
import { makeFolder } from './make-folder.js';

/** Longer paths are cut off by the system without a word; bytes. */
const LONGEST = 107;

type SocketHost = { runtimeDirectory: string | undefined; temporary: string; uid: number };

/**
 * Path of the socket for a runs directory: short, and below a folder that only this user may enter. The folder is made.
 * Throws a UserError when no place will do.
 */
export function socketAddress(runsDirectory: string, host: SocketHost): string {
  const name = `${createHash('sha256').update(runsDirectory).digest('hex').slice(0, 8)}.sock`;
  const { uid } = host;
  const reasons: string[] = [];
  for (const folder of socketFolders(host)) {
    const path = join(folder, name);
    const problem = Buffer.byteLength(path) > LONGEST ? `longer than ${LONGEST} bytes` : folderProblem(folder, uid);
    if (problem === null) return path;
    reasons.push(`${path}: ${problem}`);
  }
  throw new UserError(
    `No place for the supervisor's socket:\n${reasons.join('\n')}`,
    'Set XDG_RUNTIME_DIR or TMPDIR to a short path of a folder that you own.',
  );
}

/** Folders for the socket, the best first. A relative $XDG_RUNTIME_DIR is ignored, as its standard demands, and $TMPDIR likewise. */
export function socketFolders({ runtimeDirectory = '', temporary, uid }: SocketHost): string[] {
  const own = `memrl-${uid}`;
  return [join(runtimeDirectory, 'memrl'), join(temporary, own), join('/tmp', own)].filter(isAbsolute);
}

/** Makes the folder if it can; anyone else's folder of that name would let them in. */
function folderProblem(folder: string, uid: number): string | null {
  try {
    makeFolder(folder, 0o700);
    const { uid: owner, mode } = lstatSync(folder);
    if (owner !== uid) return 'its folder belongs to someone else';
    return (mode & 0o077) === 0 ? null : 'others may enter its folder';
  } catch (error) {
    return (error as Error).message;
  }
}
