import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe } from 'vitest';
import { openSlurmExecutor } from '../../../src/executors/slurm/slurm-executor.js';
import { readProcesses } from '../../../src/processes/process-table.js';
import { conforms, type Program } from '../conformance.js';
import { orderFor, runFolder } from '../local/folder.js';
import { hasSlurm, startCluster } from './cluster.js';

const commands: Readonly<Record<Program, string[]>> = {
  exits: ['sh', '-c', 'exit 3'],
  waits: ['sh', '-c', ': > up; while [ ! -e gate ]; do sleep 0.02; done; exit 4'],
  deaf: ['sh', '-c', 'trap "" TERM; : > up; while :; do sleep 0.1; done'],
  missing: ['no-such-command'],
};

const ownProcesses = (directory: string) => readProcesses().filter((entry) => entry.mark() === directory);

function isStill(directory: string): boolean {
  const states = ownProcesses(directory).map(({ state }) => state);
  return states.includes('T') && states.every((state) => state === 'T' || state === 'D');
}

describe.runIf(hasSlurm('the conformance of jobs of Slurm'))('with a cluster', { timeout: 60_000 }, () => {
  const environment = { ...startCluster(21_000), MEMRL_SLURM_EVERY_MS: '200' };
  conforms('Slurm', () => ({
    open: (listener) => openSlurmExecutor({ runsDirectory: '/', environment }, listener),
    directory: runFolder,
    spec: (program, directory, attempt) => orderFor(directory, commands[program], attempt),
    isUp: (directory) => existsSync(join(directory, 'up')) && ownProcesses(directory).length > 0,
    isStill,
    killAsksFirst: true,
    finish: (directory) => writeFileSync(join(directory, 'gate'), ''),
  }));
});
