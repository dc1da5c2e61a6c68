import { createHash } from 'node:crypto';
import { lstatSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';

/** The daemon makes sockets in its folder, and the system refuses longer paths; bytes. */
const LONGEST = 107;
/** The longest name below the root that has to fit: an instance of a divided GPU, and the daemon's longest socket. */
const DEEPEST = '999-999/control_privileged';

export type MpsPlaces = {
  /** Of the runs directory: `.supervisor`, absolute. */
  supervisorDirectory: string;
  /** $XDG_RUNTIME_DIR. */
  runtimeDirectory: string | undefined;
  uid: number;
};

/**
 * The folder in which each GPU's MPS daemon has its own, always the same for one runs directory, so that a supervisor finds
 * the daemons of the one before it. Not made; null when no place is short enough.
 */
export function mpsRoot({ supervisorDirectory, runtimeDirectory, uid }: MpsPlaces): string | null {
  const name = `mps-${createHash('sha256').update(supervisorDirectory).digest('hex').slice(0, 8)}`;
  const candidates = [
    join(supervisorDirectory, 'mps'),
    ...(runtimeDirectory ? [join(runtimeDirectory, 'memrl', name)] : []),
    join(`/tmp/memrl-${uid}`, name),
  ];
  return candidates.find((root) => Buffer.byteLength(join(root, DEEPEST)) <= LONGEST) ?? null;
}

/** Makes the folder, for this user alone. What stands in the way, in words; null: nothing. */
export function privateFolderProblem(folder: string, uid: number): string | null {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const stat = lstatSync(folder);
    if (!stat.isDirectory()) return `${folder} is not a folder`;
    if (stat.uid !== uid) return `${folder} belongs to someone else`;
    return (stat.mode & 0o077) === 0 ? null : `others may enter ${folder}`;
  } catch (error) {
    return (error as Error).message;
  }
}
