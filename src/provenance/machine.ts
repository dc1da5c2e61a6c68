import { arch, availableParallelism, cpus, release, totalmem, type, userInfo } from 'node:os';
import { version } from 'node:process';
import packageJson from '../../package.json' with { type: 'json' };
import type { MachineRecord } from '../contract/run-record.js';

/** This machine, as `run.json` describes it. `gpus`: their names. Takes 1 ms. */
export function machineRecord(gpus: readonly string[]): MachineRecord {
  return {
    os: `${type()} ${release()} ${arch()}`,
    cpu: cpus()[0]?.model.trim() ?? 'unknown',
    cores: availableParallelism(),
    memory: Math.round(totalmem() / 2 ** 20),
    gpus: [...gpus],
    node: version,
    memrlTui: packageJson.version,
    user: userName(),
  };
}

/** A container may run as a user that has no name. */
function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return 'unknown';
  }
}
