import { lstat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { bad, type Check, type Finding, ok, type Place, warn } from './check.js';

/** Longer paths are cut off by the system without a word; bytes. */
const LONGEST = 107;

export const socketFolder: Check = { topic: 'Runs directory', name: 'Socket', look: lookAtFolders };

/** The supervisor takes the first folder that will do; what it will find, without making any. */
async function lookAtFolders({ environment, uid }: Place): Promise<Finding> {
  const runtime = environment['XDG_RUNTIME_DIR'];
  const folders = [
    ...(runtime ? [join(runtime, 'memrl')] : []),
    join(environment['TMPDIR'] ?? tmpdir(), `memrl-${uid}`),
    `/tmp/memrl-${uid}`,
  ];
  const reasons: string[] = [];
  for (const folder of folders) {
    const path = join(folder, '01234567.sock');
    const problem = Buffer.byteLength(path) > LONGEST ? `longer than ${LONGEST} bytes` : await problemOf(folder, uid);
    if (problem !== null) reasons.push(`${folder}: ${problem}`);
    else if (reasons.length === 0) return ok(folder);
    else return warn(`${folder}, because ${reasons[0]}`, 'Correct XDG_RUNTIME_DIR or TMPDIR, or the folder.');
  }
  return bad(`no place for it: ${reasons.join('; ')}`, 'Set XDG_RUNTIME_DIR to a short path of a folder that you own.');
}

async function problemOf(folder: string, uid: number): Promise<string | null> {
  const facts = await lstat(folder).catch(() => null);
  if (facts === null) return (await lstat(dirname(folder)).catch(() => null)) === null ? 'its parent is missing' : null;
  if (!facts.isDirectory()) return 'it is no folder';
  if (facts.uid !== uid) return 'it belongs to someone else';
  return (facts.mode & 0o077) === 0 ? null : 'others may enter it';
}
