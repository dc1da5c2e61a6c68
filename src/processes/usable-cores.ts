import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { dirname, join } from 'node:path';
import { cgroupFolder } from './cgroup.js';

/** Sources of the kernel's data about our cgroups; tests pass their own. */
type Sources = { mounts: string; groups: string; read: (path: string) => string | null };

/**
 * Number of cores that this process may use: those of its CPU affinity, or fewer if a container or a systemd unit limits its CPU
 * time. At least 1.
 */
export function usableCores(cores: number = givenCores(process.env), sources: Sources = system()): number {
  return Math.max(1, Math.min(cores, Math.floor(coreQuota(sources) ?? cores)));
}

/** Not every cluster binds a job to its cores: inside one, what Slurm gave to it on this node counts. */
export function givenCores(environment: Readonly<NodeJS.ProcessEnv>, cores: number = availableParallelism()): number {
  const given = environment['SLURM_JOB_ID'] === undefined ? 0 : Number(environment['SLURM_CPUS_ON_NODE']);
  return given > 0 ? Math.min(given, cores) : cores;
}

function system(): Sources {
  const read = (path: string): string | null => {
    try {
      return readFileSync(path, 'utf8');
    } catch {
      return null;
    }
  };
  return { mounts: read('/proc/self/mountinfo') ?? '', groups: read('/proc/self/cgroup') ?? '', read };
}

/** The lowest limit of our cgroup and those above it, in cores; null: there is none. */
function coreQuota(sources: Sources): number | null {
  const { mounts, groups, read } = sources;
  const unified = cgroupFolder(mounts, groups);
  const quotas = [
    ...upwards(unified).map((folder) => quotaOf(...wordsOf(read(join(folder, 'cpu.max'))))),
    // In version 1 each controller has a hierarchy of its own.
    ...upwards(cpuFolder(sources)).map((folder) => {
      const [quota] = wordsOf(read(join(folder, 'cpu.cfs_quota_us')));
      return quotaOf(quota, wordsOf(read(join(folder, 'cpu.cfs_period_us')))[0]);
    }),
  ].filter((quota) => quota !== null);
  return quotas.length === 0 ? null : Math.min(...quotas);
}

/** A folder and its parents. */
function upwards(folder: string | null): string[] {
  return folder === null || folder === '/' ? [] : [folder, ...upwards(dirname(folder))];
}

function wordsOf(text: string | null): string[] {
  return text === null ? [] : text.trim().split(/\s+/);
}

/** @param quota Microseconds per `period`; `max` or -1: no limit. */
function quotaOf(quota = '', period = ''): number | null {
  const [time, span] = [Number(quota), Number(period)];
  return quota !== '' && time > 0 && span > 0 ? time / span : null;
}

/** Our cgroup in the hierarchy of the `cpu` controller of version 1; null: there is none. */
function cpuFolder({ mounts, groups }: Sources): string | null {
  const group = /^\d+:(?:[^:]*,)?cpu(?:,[^:]*)?:(\/.*)$/m.exec(groups)?.[1];
  const mount = /^\d+ \d+ \S+ (\S+) (\S+) .* - cgroup \S+ (?:\S*,)?cpu(?:,\S*)?$/m.exec(mounts);
  if (group === undefined || mount === null) return null;
  const [, root, folder] = mount;
  return join(folder!, root !== '/' && group.startsWith(root!) ? group.slice(root!.length) : group);
}
