import { readdir, stat } from 'node:fs/promises';
import { availableParallelism, freemem, totalmem } from 'node:os';
import { cgroupFolder } from '../../executors/local/cgroup-home.js';
import { numberIn, textOf } from './ask.js';
import { bad, type Check, type Finding, ok, type Place, warn } from './check.js';
import { sizeText } from '../../text/size-text.js';

/** Soft and hard limit by name (`Max open files`); Infinity for unlimited. @param text Of /proc/self/limits. */
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
  if (limit === undefined) return ok('not known here');
  const found = `${countText(limit.soft)} at a time`;
  const fix = `Run \`ulimit -n ${Math.min(limit.hard, 4096)}\` before you launch (in ~/.profile for good).`;
  if (limit.soft < 128) return bad(found, fix);
  return limit.soft < 1024 ? warn(found, fix) : ok(found);
}

export const processes: Check = { topic: 'Limits', name: 'Processes', look: lookAtProcesses };

/** Room for processes and threads: of the user, and of the cgroup (a container, a Slurm job). */
async function lookAtProcesses({ uid }: Place): Promise<Finding> {
  const limits = await textOf('/proc/self/limits');
  const limit = limits === null ? undefined : parseLimits(limits).get('Max processes');
  if (limit === undefined) return ok('not known here');
  // The limit does not bind root.
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
      // The folder has a link for each thread, and two more.
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

/** @param meminfo Text of /proc/meminfo, if there is one. @param known Bytes, by the system's own word. */
export function judgeMemory(meminfo: string | null, known: { free: number; total: number }): Finding {
  const kib = (name: string) => Number(new RegExp(`^${name}: +(\\d+) kB`, 'm').exec(meminfo ?? '')?.[1] ?? NaN) * 1024;
  const free = kib('MemAvailable') || known.free;
  const found = `${sizeText(free)} of ${sizeText(known.total)} free`;
  return free > 2 ** 30
    ? ok(found)
    : warn(found, 'End what is not needed: the system kills runs when memory runs out.');
}

export function countText(count: number): string {
  return count === Infinity ? 'any number' : count.toLocaleString('en');
}
