import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { bootId } from './process-identity.js';

/**
 * Where a process id means something: on one machine, from one start of it to the next, and in one PID namespace (a
 * container has its own). Anywhere else the same number is another process, or none, and says nothing about who lives.
 */
export type HostIdentity = {
  /** The name a person knows the machine by. */
  host: string;
  /** `/etc/machine-id`; empty where there is none, as in many containers. */
  machineId: string;
  /** Empty where there is no /proc. */
  bootId: string;
  /** `pid:[4026531836]`; empty where there is no /proc. */
  pidNamespace: string;
};

let known: HostIdentity | null = null;

/** Of this process. Read once. */
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
 * How what was written by a process of `there` can be judged from `here`. `same`: pids mean the same. `earlier`: the same
 * machine before it was last started, so nothing of then lives. `foreign`: nothing can be known from pids.
 */
export function relationTo(there: HostIdentity, here: HostIdentity = hostIdentity()): 'same' | 'earlier' | 'foreign' {
  const isSameMachine = there.host === here.host && there.machineId === here.machineId;
  if (there.bootId !== here.bootId) return isSameMachine && here.bootId !== '' ? 'earlier' : 'foreign';
  if (here.bootId === '' && !isSameMachine) return 'foreign';
  return there.pidNamespace === here.pidNamespace ? 'same' : 'foreign';
}

/** What a file says of where it was written; what it does not say is as it is here, as older versions took for granted. */
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
