import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { bootId } from './process-identity.js';

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
