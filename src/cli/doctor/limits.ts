import { readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { availableParallelism, freemem, totalmem } from 'node:os';
import { cgroupFolder } from '../../processes/cgroup.js';
import { sizeText } from '../../text/numbers.js';
import { bad, type Check, type Finding, numberIn, ok, type Place, textOf, warn } from './check.js';

/** Soft and hard limits by name (`Max open files`); Infinity for unlimited. @param text Text of /proc/self/limits. */
export function parseLimits(text: string): Map<string, { soft: number; hard: number }> {
  const numberOf = (word: string) => (word === 'unlimited' ? Infinity : Number(word));
  const rows = [...text.matchAll(/^(Max [a-z ]+?) {2,}(\S+) +(\S+)/gm)];
  return new Map(rows.map(([, name, soft, hard]) => [name!, { soft: numberOf(soft!), hard: numberOf(hard!) }]));
}

export const openFiles: Check = {
  topic: 'Limits',
  name: 'Open files',
  look: async () => judgeOpenFiles(await textOf('/proc/self/limits')),
};

export function judgeOpenFiles(limits: string | null): Finding {
  const limit = limits === null ? undefined : parseLimits(limits).get('Max open files');
  if (limit === undefined) return ok('unknown on this system');
  const found = `${countText(limit.soft)} at a time`;
  const fix = `Run \`ulimit -n ${Math.min(limit.hard, 4096)}\` before you launch (in ~/.profile for good).`;
  if (limit.soft < 128) return bad(found, fix);
  return limit.soft < 1024 ? warn(found, fix) : ok(found);
}

export const processes: Check = { topic: 'Limits', name: 'Processes', look: lookAtProcesses };

/** Checks the limits on processes and threads: of the user, and of the cgroup (a container, a Slurm job). */
async function lookAtProcesses({ uid }: Place): Promise<Finding> {
  const limits = await textOf('/proc/self/limits');
  const limit = limits === null ? undefined : parseLimits(limits).get('Max processes');
  if (limit === undefined) return ok('unknown on this system');
  // The limit does not apply to root.
  const user = uid === 0 ? null : { most: limit.soft, used: await threadsOf(uid) };
  return judgeProcesses(user, await cgroupRoom());
}

type Room = { most: number; used: number } | null;

export function judgeProcesses(user: Room, group: Room): Finding {
  const [tightest] = [user, group].filter((room) => room !== null).sort((a, b) => a.most - a.used - (b.most - b.used));
  if (tightest === undefined || tightest.most === Infinity) return ok('not limited');
  const { most, used } = tightest;
  const found = `${countText(used)} of ${countText(most)} used`;
  const fix =
    tightest === group
      ? 'Raise the limit of the container (`docker run --pids-limit`) or of the job.'
      : 'Raise it with `ulimit -u`, or ask the administrator.';
  return most - used < 64 * availableParallelism() && most - used < most / 2 ? warn(found, fix) : ok(found);
}

async function threadsOf(uid: number): Promise<number> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const counts = await Promise.all(
    pids.map((pid) =>
      // The folder has one link per thread, and two more.
      stat(`/proc/${pid}/task`).then(
        (facts) => (facts.uid === uid ? facts.nlink - 2 : 0),
        () => 0,
      ),
    ),
  );
  return counts.reduce((sum, count) => sum + count, 0);
}

async function cgroupRoom(): Promise<Room> {
  const [mounts, groups] = await Promise.all([textOf('/proc/self/mountinfo'), textOf('/proc/self/cgroup')]);
  const own = cgroupFolder(mounts ?? '', groups ?? '');
  for (const folder of [...(own === null ? [] : [own]), '/sys/fs/cgroup', '/sys/fs/cgroup/pids']) {
    const [most, used] = await Promise.all([numberIn(`${folder}/pids.max`), numberIn(`${folder}/pids.current`)]);
    if (most !== null && used !== null) return { most, used };
  }
  return null;
}

export const memory: Check = {
  topic: 'Limits',
  name: 'Memory',
  look: async () => judgeMemory(await textOf('/proc/meminfo'), { free: freemem(), total: totalmem() }),
};

/** @param meminfo Text of /proc/meminfo, if there is one. @param known Bytes as the operating system reports them. */
export function judgeMemory(meminfo: string | null, known: { free: number; total: number }): Finding {
  const kib = (name: string) => Number(new RegExp(`^${name}: +(\\d+) kB`, 'm').exec(meminfo ?? '')?.[1] ?? NaN) * 1024;
  const free = kib('MemAvailable') || known.free;
  const found = `${sizeText(free)} of ${sizeText(known.total)} free`;
  return free > 2 ** 30
    ? ok(found)
    : warn(found, 'Stop programs you do not need: the kernel kills runs when memory runs out.');
}

function countText(count: number): string {
  return count === Infinity ? 'any number' : count.toLocaleString('en');
}

/** Time limit for counting watches, ms. */
const PATIENCE_MS = 300;
/** Least number of free watches, as each live run has some watched files. */
const FEW_WATCHES = 1000;
const FEW_INSTANCES = 5;

export const watches: Check = {
  topic: 'Limits',
  name: 'File watches',
  look: async ({ uid }: Place) => {
    const [most, instances] = await Promise.all([
      numberIn('/proc/sys/fs/inotify/max_user_watches'),
      numberIn('/proc/sys/fs/inotify/max_user_instances'),
    ]);
    if (most === null || instances === null) return ok('not limited here');
    return judgeWatches({ watches: most, instances }, usageOf(uid));
  },
};

type Count = { watches: number; instances: number };

/** @param most Limit for one user. @param used Total of the examined processes of this user. */
export function judgeWatches(most: Count, used: Count): Finding {
  const found = `${countText(used.watches)} of ${countText(most.watches)} used, by ${used.instances} of ${most.instances} watchers`;
  if (most.instances - used.instances < FEW_INSTANCES) {
    return warn(found, 'Raise it: `sudo sysctl fs.inotify.max_user_instances=1024`. Until then metrics come late.');
  }
  if (most.watches - used.watches < FEW_WATCHES) {
    return warn(found, 'Raise it: `sudo sysctl fs.inotify.max_user_watches=524288`. Until then metrics come late.');
  }
  return ok(found);
}

/** Counts the file watches of the user's processes. */
function usageOf(uid: number): Count {
  const end = performance.now() + PATIENCE_MS;
  const used: Count = { watches: 0, instances: 0 };
  for (const pid of readdirSync('/proc')) {
    if (!/^\d+$/.test(pid) || performance.now() > end) continue;
    for (const file of watchersOf(pid, uid)) {
      used.instances += 1;
      used.watches += linesOf(file);
    }
  }
  return used;
}

function watchersOf(pid: string, uid: number): string[] {
  try {
    if (statSync(`/proc/${pid}`).uid !== uid) return [];
    const open = readdirSync(`/proc/${pid}/fd`);
    return open.filter((fd) => isWatcher(`/proc/${pid}/fd/${fd}`)).map((fd) => `/proc/${pid}/fdinfo/${fd}`);
  } catch {
    return [];
  }
}

function isWatcher(link: string): boolean {
  try {
    return readlinkSync(link) === 'anon_inode:inotify';
  } catch {
    return false;
  }
}

function linesOf(file: string): number {
  try {
    return readFileSync(file, 'utf8')
      .split('\n')
      .filter((line) => line.startsWith('inotify ')).length;
  } catch {
    return 0;
  }
}
