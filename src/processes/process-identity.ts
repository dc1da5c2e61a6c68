import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { readProcFile } from './proc-file.js';

/** One process of all time: a pid alone is reused, pid and start time are reused after a reboot. */
export type ProcessIdentity = {
  pid: number;
  /** Clock ticks since boot (field 22 of /proc/PID/stat), or `ps -o lstart` where there is no /proc. */
  startTime: string;
  /** Empty where there is no /proc. */
  bootId: string;
};

/** Fields of /proc/PID/stat that say who a process is and whom it belongs to. */
export type ProcessStat = {
  pid: number;
  /** What it calls itself, at most 15 characters. */
  name: string;
  /** One letter; Z is dead and X nearly. */
  state: string;
  parent: number;
  group: number;
  session: number;
  /** Whether it belongs to a terminal. */
  terminal: boolean;
  startTime: string;
  /**
   * Where its environment begins in memory: another place, chosen at random, with every program that it executes. '0' where
   * that may not be read, as another user's environment may not; empty where there is no /proc.
   */
  image: string;
};

const hasProc = existsSync('/proc/self/stat');

/** After the name: state, ppid, pgrp, session, tty_nr; as fields 22 and 50 starttime and env_start. */
const statFields = /^(\S) (\d+) (\d+) (\d+) (-?\d+) (?:\S+ ){14}(\d+)(?: (?:\S+ ){27}(\d+))?/;

/** The command name may hold spaces and parentheses, so the fields are counted from the last `)`. */
export function parseStat(text: string): ProcessStat | null {
  const end = text.lastIndexOf(')');
  const pid = Number.parseInt(text, 10);
  const fields = statFields.exec(text.slice(end + 2));
  if (end < 0 || !(pid > 0) || fields === null) return null;
  const [, state, parent, group, session, terminal, startTime, image] = fields;
  const name = text.slice(text.indexOf('(') + 1, end);
  const ids = { pid, name, state: state!, parent: Number(parent), group: Number(group), session: Number(session) };
  return { ...ids, terminal: terminal !== '0', startTime: startTime!, image: image ?? '0' };
}

/** The line the shim writes; null when it is torn or not a shim's. */
export function parseIdentity(line: string): ProcessIdentity | null {
  const other = /^(\d+) lstart (.+)$/.exec(line);
  if (other !== null) return { pid: Number(other[1]), startTime: normalized(other[2]!), bootId: '' };
  const stat = parseStat(line);
  const bootId = /[0-9a-f-]{36}$/.exec(line)?.[0];
  return stat === null || bootId === undefined ? null : { pid: stat.pid, startTime: stat.startTime, bootId };
}

/** Who has this pid now; null when nobody living has. About 30 µs. */
export function identityOf(pid: number): ProcessIdentity | null {
  if (!hasProc) return identityFromPs(pid);
  const stat = readStat(pid);
  return stat === null || isDead(stat) ? null : { pid, startTime: stat.startTime, bootId: bootId() };
}

/** Whether exactly this process still lives. A zombie does not. */
export function isAlive({ pid, startTime, bootId: boot }: ProcessIdentity): boolean {
  const now = identityOf(pid);
  return now !== null && now.startTime === startTime && now.bootId === boot;
}

export function isDead({ state }: ProcessStat): boolean {
  return state === 'Z' || state === 'X';
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
