import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { isDead, parseStat, type ProcessStat } from '../base/process-stat.js';
import { readProcFile } from './proc-file.js';

/** Identifies a process uniquely: pids are reused, and start times repeat after a reboot. */
export type ProcessIdentity = {
  pid: number;
  /** Clock ticks since boot (field 22 of /proc/PID/stat), or `ps -o lstart` if there is no /proc. */
  startTime: string;
  /** Empty if there is no /proc. */
  bootId: string;
};

const hasProc = existsSync('/proc/self/stat');

/** Parses the line that the shim writes; null: it is incomplete or not a shim's. */
export function parseIdentity(line: string): ProcessIdentity | null {
  const other = /^(\d+) lstart (.+)$/.exec(line);
  if (other !== null) return { pid: Number(other[1]), startTime: normalized(other[2]!), bootId: '' };
  const stat = parseStat(line);
  const bootId = /[0-9a-f-]{36}$/.exec(line)?.[0];
  return stat === null || bootId === undefined ? null : { pid: stat.pid, startTime: stat.startTime, bootId };
}

/** The living process with this pid; null: there is none. Takes about 30 µs. */
export function identityOf(pid: number): ProcessIdentity | null {
  if (!hasProc) return identityFromPs(pid);
  const stat = readStat(pid);
  return stat === null || isDead(stat) ? null : { pid, startTime: stat.startTime, bootId: bootId() };
}

/** Whether exactly this process lives. A zombie does not count. */
export function isAlive({ pid, startTime, bootId: boot }: ProcessIdentity): boolean {
  const now = identityOf(pid);
  return now !== null && now.startTime === startTime && now.bootId === boot;
}

export function readStat(pid: number | string): ProcessStat | null {
  const bytes = readProcFile(`/proc/${pid}/stat`);
  return bytes === null ? null : parseStat(bytes.toString('utf8'));
}

let knownBootId: string | null = null;

export function bootId(): string {
  if (knownBootId === null) knownBootId = hasProc ? readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim() : '';
  return knownBootId;
}

function identityFromPs(pid: number): ProcessIdentity | null {
  const options = { encoding: 'utf8', env: { ...process.env, LC_ALL: 'C' } } as const;
  const { stdout } = spawnSync('ps', ['-o', 'stat=,lstart=', '-p', String(pid)], options);
  const [, state, startTime] = /^\s*(\S+)\s+(.+?)\s*$/m.exec(stdout) ?? [];
  if (state === undefined || startTime === undefined || state.startsWith('Z')) return null;
  return { pid, startTime: normalized(startTime), bootId: '' };
}

function normalized(time: string): string {
  return time.trim().replace(/\s+/g, ' ');
}

/**
 * The scope in which a process id is valid: one machine, one boot, and one PID namespace (a container has its own). Anywhere else
 * the same number is another process, or none, and tells nothing about whether it lives.
 */
export type HostIdentity = {
  /** The host name. */
  host: string;
  /** `/etc/machine-id`; empty where there is none, as in many containers. */
  machineId: string;
  /** Empty if there is no /proc. */
  bootId: string;
  /** `pid:[4026531836]`; empty if there is no /proc. */
  pidNamespace: string;
};

let known: HostIdentity | null = null;

/** The identity of the present process's host. Read once. */
export function hostIdentity(): HostIdentity {
  known ??= {
    host: hostname(),
    machineId: orEmpty(() => readFileSync('/etc/machine-id', 'utf8').trim()),
    bootId: bootId(),
    pidNamespace: orEmpty(() => readlinkSync('/proc/self/ns/pid')),
  };
  return known;
}

/**
 * How pids that a process of `there` wrote apply to `here`. `same`: they are valid. `earlier`: the same machine before its last
 * boot, so none of the processes lives. `foreign`: they tell nothing.
 */
export function relationTo(there: HostIdentity, here: HostIdentity = hostIdentity()): 'same' | 'earlier' | 'foreign' {
  const isSameMachine = there.host === here.host && there.machineId === here.machineId;
  if (there.bootId !== here.bootId) return isSameMachine && here.bootId !== '' ? 'earlier' : 'foreign';
  if (here.bootId === '' && !isSameMachine) return 'foreign';
  return there.pidNamespace === here.pidNamespace ? 'same' : 'foreign';
}

/** The host that a file was written on; missing fields are those of this host, as older versions assumed. */
export function placeIn(said: { [Key in keyof HostIdentity]?: string | undefined }): HostIdentity {
  const here = hostIdentity();
  return {
    host: said.host ?? here.host,
    machineId: said.machineId ?? here.machineId,
    bootId: said.bootId ?? here.bootId,
    pidNamespace: said.pidNamespace ?? here.pidNamespace,
  };
}

function orEmpty(read: () => string): string {
  try {
    return read();
  } catch {
    return '';
  }
}
