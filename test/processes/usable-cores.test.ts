import { describe, expect, it } from 'vitest';
import { givenCores, usableCores } from '../../src/processes/usable-cores.js';

const unified = '30 23 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n';
const divided = '34 33 0:29 / /sys/fs/cgroup/cpu,cpuacct rw,nosuid - cgroup cgroup rw,cpu,cpuacct\n';
const inContainer = '34 33 0:29 /docker/abc /sys/fs/cgroup/cpu ro,nosuid - cgroup cgroup rw,cpu\n';

describe('the cores that may be used', () => {
  it.each<{ when: string; mounts: string; groups: string; files: Record<string, string>; cores: number }>([
    { when: 'all there are, where nothing is said', mounts: '', groups: '', files: {}, cores: 16 },
    {
      when: 'the quota of the cgroup',
      ...{ mounts: unified, groups: '0::/user.slice/job\n', cores: 4 },
      files: { '/sys/fs/cgroup/user.slice/job/cpu.max': '400000 100000\n' },
    },
    {
      when: 'the least of the quotas of those above it, rounded down',
      ...{ mounts: unified, groups: '0::/a/b\n', cores: 2 },
      files: {
        '/sys/fs/cgroup/a/b/cpu.max': '800000 100000\n',
        '/sys/fs/cgroup/a/cpu.max': '250000 100000\n',
        '/sys/fs/cgroup/cpu.max': 'max 100000\n',
      },
    },
    {
      when: 'one, of less than one',
      ...{ mounts: unified, groups: '0::/\n', cores: 1 },
      files: { '/sys/fs/cgroup/cpu.max': '50000 100000\n' },
    },
    {
      when: 'not more than the affinity, whatever the quota',
      ...{ mounts: unified, groups: '0::/\n', cores: 16 },
      files: { '/sys/fs/cgroup/cpu.max': '9900000 100000\n' },
    },
    {
      when: 'the quota of version 1',
      ...{ mounts: divided, groups: '5:memory:/x\n4:cpu,cpuacct:/job\n', cores: 3 },
      files: {
        '/sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_quota_us': '300000\n',
        '/sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_period_us': '100000\n',
      },
    },
    {
      when: 'that of a container, in which its own cgroup is the root',
      ...{ mounts: inContainer, groups: '4:cpu:/docker/abc\n', cores: 2 },
      files: {
        '/sys/fs/cgroup/cpu/cpu.cfs_quota_us': '200000\n',
        '/sys/fs/cgroup/cpu/cpu.cfs_period_us': '100000\n',
      },
    },
    {
      when: 'all, where version 1 has no limit',
      ...{ mounts: divided, groups: '4:cpu,cpuacct:/\n', cores: 16 },
      files: {
        '/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us': '-1\n',
        '/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us': '100000\n',
      },
    },
  ])('are $when', ({ mounts, groups, files, cores }) => {
    expect(usableCores(16, { mounts, groups, read: (path) => files[path] ?? null })).toBe(cores);
  });
});

describe('the cores of a job of Slurm', () => {
  it.each([
    { environment: {}, cores: 16 },
    { environment: { SLURM_CPUS_ON_NODE: '4' }, cores: 16 },
    { environment: { SLURM_JOB_ID: '7', SLURM_CPUS_ON_NODE: '4' }, cores: 4 },
    { environment: { SLURM_JOB_ID: '7', SLURM_CPUS_ON_NODE: '64' }, cores: 16 },
    { environment: { SLURM_JOB_ID: '7' }, cores: 16 },
  ])('are $cores of 16 for $environment', ({ environment, cores }) => {
    expect(givenCores(environment, 16)).toBe(cores);
  });
});
