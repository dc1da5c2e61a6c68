import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { dirname, join } from 'node:path';
import { cgroupFolder } from './cgroup.js';

/** What the kernel says of our cgroups; a test gives its own. */
type Sources = { mounts: string; groups: string; read: (path: string) => string | null };

/**
 * Cores that our processes may use: those of our affinity, or fewer where a container or a unit of systemd may use only so much
 * of their time. At least 1.
 */
export function usableCores(cores: number = availableParallelism(), sources: Sources = system()): number {
  return Math.max(1, Math.min(cores, Math.floor(coreQuota(sources) ?? cores)));
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

/** The least that a cgroup of ours, or one above it, allows, in cores; null: none says. */
function coreQuota(sources: Sources): number | null {
  const { mounts, groups, read } = sources;
  const unified = cgroupFolder(mounts, groups);
  const quotas = [
    ...upwards(unified).map((folder) => quotaOf(...wordsOf(read(join(folder, 'cpu.max'))))),
    // Version 1 of cgroups keeps each resource in a tree of its own.
    ...upwards(cpuFolder(sources)).map((folder) => {
      const [quota] = wordsOf(read(join(folder, 'cpu.cfs_quota_us')));
      return quotaOf(quota, wordsOf(read(join(folder, 'cpu.cfs_period_us')))[0]);
    }),
  ].filter((quota) => quota !== null);
  return quotas.length === 0 ? null : Math.min(...quotas);
}

/** A folder and those above it. */
function upwards(folder: string | null): string[] {
  return folder === null || folder === '/' ? [] : [folder, ...upwards(dirname(folder))];
}

function wordsOf(text: string | null): string[] {
  return text === null ? [] : text.trim().split(/\s+/);
}

/** @param quota Microseconds of every `period`; `max` or -1: no limit. */
function quotaOf(quota = '', period = ''): number | null {
  const [time, span] = [Number(quota), Number(period)];
  return quota !== '' && time > 0 && span > 0 ? time / span : null;
}

/** Our cgroup in the tree of the `cpu` controller of version 1; null: there is none. */
function cpuFolder({ mounts, groups }: Sources): string | null {
  const group = /^\d+:(?:[^:]*,)?cpu(?:,[^:]*)?:(\/.*)$/m.exec(groups)?.[1];
  const mount = /^\d+ \d+ \S+ (\S+) (\S+) .* - cgroup \S+ (?:\S*,)?cpu(?:,\S*)?$/m.exec(mounts);
  if (group === undefined || mount === null) return null;
  const [, root, folder] = mount;
  return join(folder!, root !== '/' && group.startsWith(root!) ? group.slice(root!.length) : group);
}
