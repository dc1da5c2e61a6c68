import { constants, type StatsFs } from 'node:fs';
import { access, open, stat, statfs, unlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { sizeText } from '../../text/numbers.js';
import { bad, type Check, type Finding, ok, type Place, textOf, warn } from './check.js';

const GIB = 2 ** 30;

export const space: Check = {
  topic: 'Runs directory',
  name: 'Space',
  look: async ({ runsDirectory }) => judgeSpace(await statfs(await existing(runsDirectory))),
};

export function judgeSpace({ bavail, bsize, blocks, files, ffree }: Omit<StatsFs, 'type' | 'bfree'>): Finding {
  if (blocks === 0) return ok('not reported by the file system');
  const free = bavail * bsize;
  const found = `${sizeText(free)} of ${sizeText(blocks * bsize)} free`;
  const fix = 'Delete what is no longer needed, or choose another folder with --runs.';
  if (free < GIB / 2) return bad(found, fix);
  // Some file systems make inodes as they go, and say 0.
  if (files > 0 && ffree < 10_000) return warn(`${found}, but only ${ffree} more files`, fix);
  return free < 5 * GIB ? warn(found, fix) : ok(found);
}

export const place: Check = {
  topic: 'Runs directory',
  name: 'Place',
  look: async ({ runsDirectory }) => {
    const mountinfo = await textOf('/proc/self/mountinfo');
    const folder = await existing(runsDirectory);
    const isThere = folder === runsDirectory;
    const mount = mountinfo === null ? null : mountOf(folder, mountinfo);
    const problem = await access(folder, constants.W_OK).then(
      () => null,
      (error: Error) => error,
    );
    return judgePlace({ folder: runsDirectory, isThere, mount, isWritable: problem === null });
  },
};

type Facts = { folder: string; isThere: boolean; mount: Mount | null; isWritable: boolean };

export function judgePlace({ folder, isThere, mount, isWritable }: Facts): Finding {
  const found = `${folder}${isThere ? '' : ' (does not exist yet)'}${mount === null ? '' : `, on ${mount.type}`}`;
  if (mount?.options.includes('ro')) return bad(`${found}, read-only`, 'Choose another folder with --runs.');
  if (!isWritable) return bad(`${found}: not writable`, 'Choose another folder with --runs, or take ownership of it.');
  if (mount === null) return ok(found);
  if (/^(?:tmpfs|ramfs)$/.test(mount.type)) {
    return warn(`${found}: deleted at every reboot`, 'Choose a folder on a disk with --runs.');
  }
  if (isRemote(mount.type)) {
    return warn(
      `${found}: a network file system, so slower, and for one machine at a time`,
      'Choose a folder on a local disk with --runs if you can.',
    );
  }
  if (mount.options.includes('noexec')) {
    return warn(
      `${found}: programs in it cannot be started`,
      'Start scripts by their interpreter: `python x.py`, not `./x.py`.',
    );
  }
  return ok(found);
}

export const durability: Check = { topic: 'Runs directory', name: 'Safe writes', look: lookAtDurability };

/** Bytes of a typical group of journal lines. */
const WRITTEN = 4096;
const SLOW_MS = 20;

/** The journal is on the disk before anything is promised; how long does that take? Leaves nothing behind. */
async function lookAtDurability({ runsDirectory }: Place): Promise<Finding> {
  const path = join(runsDirectory, `.doctor-${process.pid}`);
  const file = await open(path, 'wx').catch(() => null);
  if (file === null) return ok('not tested: the folder does not exist or is not writable');
  const times: number[] = [];
  try {
    for (let round = 0; round < 5; round += 1) {
      const start = performance.now();
      await file.write(Buffer.alloc(WRITTEN));
      await file.datasync();
      times.push(performance.now() - start);
    }
  } finally {
    await file.close();
    await unlink(path);
  }
  const median = times.sort((a, b) => a - b)[2]!;
  const found = `${median.toFixed(1)} ms until a write is on disk`;
  return median < SLOW_MS
    ? ok(found)
    : warn(found, 'Choose a folder on a faster disk with --runs: every event waits that long.');
}

/** The folder, or the nearest one above it that exists. */
async function existing(path: string): Promise<string> {
  for (let folder = path; ; folder = dirname(folder)) {
    const isThere = await stat(folder).then(
      () => true,
      () => false,
    );
    if (isThere || folder === dirname(folder)) return folder;
  }
}

/** What a path lies on. */
type Mount = { folder: string; type: string; options: readonly string[] };

/**
 * The mount that holds a path; null when the list says nothing of it.
 *
 * @param mountinfo Text of /proc/self/mountinfo.
 */
export function mountOf(path: string, mountinfo: string): Mount | null {
  let best: Mount | null = null;
  for (const line of mountinfo.split('\n')) {
    const [, folder, options, type, superOptions] =
      /^\d+ \d+ \S+ \S+ (\S+) (\S+) .*?- (\S+) \S+ ?(\S*)$/.exec(line) ?? [];
    if (folder === undefined || options === undefined || type === undefined) continue;
    const place = folder.replace(/\\([0-7]{3})/g, (_, digits: string) =>
      String.fromCharCode(Number.parseInt(digits, 8)),
    );
    // Of two mounts on one folder the later one is seen.
    if (!isBelow(path, place) || (best !== null && place.length < best.folder.length)) continue;
    best = { folder: place, type, options: [...options.split(','), ...(superOptions ?? '').split(',')] };
  }
  return best;
}

function isBelow(path: string, folder: string): boolean {
  return folder === '/' || path === folder || path.startsWith(`${folder}/`);
}

/** A file system whose files are on another machine, or kept by a program. */
function isRemote(type: string): boolean {
  return /^(?:nfs|cifs|smb|9p|afs|ceph|lustre|gpfs|beegfs|glusterfs|virtiofs|fuse\.(?!fuseblk|overlay))/.test(type);
}
