import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
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
