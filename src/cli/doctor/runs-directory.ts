import { constants, type StatsFs } from 'node:fs';
import { access, lstat, open, readdir, stat, statfs, unlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, isAbsolute, join } from 'node:path';
import { probeSupervisor, type SupervisorProbe } from '../../client/ensure-supervisor.js';
import { supervisorFiles } from '../../contract/files.js';
import type { SupervisorLock } from '../../contract/supervisor-lock.js';
import { placeIn, relationTo } from '../../processes/process-identity.js';
import { isLivingSupervisor } from '../../processes/process-table.js';
import { socketFolders } from '../../files/socket-address.js';
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
  // Some file systems create inodes on demand, and report 0.
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

/** Size in bytes of a typical group of journal lines. */
const WRITTEN = 4096;
const SLOW_MS = 20;

/** Measures how long a synced write of the journal takes. Leaves nothing behind. */
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

/** The folder, or its nearest existing parent. */
async function existing(path: string): Promise<string> {
  for (let folder = path; ; folder = dirname(folder)) {
    const isThere = await stat(folder).then(
      () => true,
      () => false,
    );
    if (isThere || folder === dirname(folder)) return folder;
  }
}

/** The mount of a path. */
type Mount = { folder: string; type: string; options: readonly string[] };

/**
 * The mount that contains a path; null: the list has none.
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
    // Of two mounts on one folder the later one is visible.
    if (!isBelow(path, place) || (best !== null && place.length < best.folder.length)) continue;
    best = { folder: place, type, options: [...options.split(','), ...(superOptions ?? '').split(',')] };
  }
  return best;
}

function isBelow(path: string, folder: string): boolean {
  return folder === '/' || path === folder || path.startsWith(`${folder}/`);
}

/** Whether a file system's files are on another machine, or provided by a program. */
function isRemote(type: string): boolean {
  return /^(?:nfs|cifs|smb|9p|afs|ceph|lustre|gpfs|beegfs|glusterfs|virtiofs|fuse\.(?!fuseblk|overlay))/.test(type);
}

export const supervisor: Check = {
  topic: 'Runs directory',
  name: 'Supervisor',
  patienceMs: 6000,
  look: async ({ runsDirectory }) => {
    const probe = await probeSupervisor(runsDirectory);
    return judgeSupervisor(probe, 'lock' in probe ? sightOf(probe.lock) : 'dead');
  },
};

/** Whether the owner of the lock lives, as far as can be seen from here. */
type Sight = 'up' | 'dead' | 'out of sight';

function sightOf(lock: SupervisorLock): Sight {
  if (relationTo(placeIn(lock)) === 'foreign') return 'out of sight';
  return isLivingSupervisor(lock) ? 'up' : 'dead';
}

export function judgeSupervisor(probe: SupervisorProbe, sight: Sight): Finding {
  switch (probe.kind) {
    case 'none':
      return ok('not running; it starts with the first launch');
    case 'unreadable':
      return bad(
        `its lock cannot be read: ${probe.reason}`,
        'Take ownership of the folder `.supervisor`, or delete lock.json in it.',
      );
    case 'silent':
      if (sight === 'out of sight') {
        return warn(
          `process ${probe.lock.pid} on ${probe.lock.host ?? 'another host'} has the lock and cannot be reached from here`,
          'Work there. If it is gone, `memrl-tui attach` takes over when its lease has expired.',
        );
      }
      if (sight === 'dead')
        return ok(`process ${probe.lock.pid} was killed; the next launch or \`attach\` takes over its runs`);
      return bad(
        `process ${probe.lock.pid} does not answer`,
        '`memrl-tui restart` replaces it; its runs keep running.',
      );
    case 'answers':
      if (probe.isOurs) return ok(`process ${probe.lock.pid} answers`);
      return warn(
        `process ${probe.lock.pid} is another version of memrl-tui`,
        '`memrl-tui restart` replaces it; its runs keep running.',
      );
  }
}

/** Size of a large log in bytes. The journal is compacted when it grows; a log of that size repeats an error message. */
const LARGE = 256 * 2 ** 20;

export const stateFolder: Check = { topic: 'Runs directory', name: 'State', look: lookAtState };

async function lookAtState({ runsDirectory }: Place): Promise<Finding> {
  const folder = join(runsDirectory, supervisorFiles.directory);
  const own = await stat(folder).catch(() => null);
  if (own === null) return ok('none yet');
  const sizes = await Promise.all(
    [supervisorFiles.journal, supervisorFiles.log].map((name) => sizeOf(join(folder, name))),
  );
  const [journal = 0, log = 0] = sizes;
  const found = `journal ${sizeText(journal)}, log ${sizeText(log)}`;
  const open = await openToOthers(folder, own.mode);
  if (open !== null)
    return warn(`${open} can be read by others, and holds your environment`, `Run \`chmod -R go= ${folder}\`.`);
  if (log > LARGE)
    return warn(found, `Read the end of ${join(folder, supervisorFiles.log)}, fix the cause, and empty it.`);
  return journal > LARGE ? warn(found, 'Forget sweeps that you no longer need.') : ok(found);
}

/** A folder or file with secrets that other users may read; null: there is none. */
async function openToOthers(folder: string, mode: number): Promise<string | null> {
  if ((mode & 0o077) === 0) return null;
  const environments = join(folder, 'environments');
  const facts = await stat(environments).catch(() => null);
  if (facts === null || (facts.mode & 0o077) === 0) return null;
  for (const name of await readdir(environments)) {
    const file = join(environments, name);
    if (((await stat(file)).mode & 0o077) !== 0) return file;
  }
  return null;
}

async function sizeOf(path: string): Promise<number> {
  return stat(path).then(
    ({ size }) => size,
    () => 0,
  );
}

/** Length limit of a socket path in bytes, beyond which the system truncates it silently. */
const LONGEST = 107;

export const socketFolder: Check = { topic: 'Runs directory', name: 'Socket', look: lookAtFolders };

/** Checks the folders for sockets: the supervisor takes the first suitable one. Creates none. */
async function lookAtFolders({ environment, uid }: Place): Promise<Finding> {
  const runtimeDirectory = environment['XDG_RUNTIME_DIR'];
  const isIgnored = Boolean(runtimeDirectory) && !isAbsolute(runtimeDirectory!);
  const reasons = isIgnored ? [`XDG_RUNTIME_DIR is a relative path (${runtimeDirectory}), which is ignored`] : [];
  const temporary = environment['TMPDIR'] ?? tmpdir();
  for (const folder of socketFolders({ runtimeDirectory, temporary, uid })) {
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
  if (!facts.isDirectory()) return 'it is not a folder';
  if (facts.uid !== uid) return 'it belongs to someone else';
  return (facts.mode & 0o077) === 0 ? null : 'others may enter it';
}
