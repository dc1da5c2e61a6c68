import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe } from 'vitest';
import type { ExecutorListener } from '../../../src/executors/executor.js';
import { openSlurmExecutor } from '../../../src/executors/slurm/slurm-executor.js';
import { readProcesses } from '../../../src/processes/process-table.js';
import { conforms, type Program } from '../conformance.js';
import { orderFor, runFolder } from '../local/folder.js';
import { clusterOfFile, hasSlurm } from './cluster.js';
import { PretendSlurm } from './pretend-slurm.js';

const commands: Readonly<Record<Program, string[]>> = {
  exits: ['sh', '-c', 'exit 3'],
  waits: ['sh', '-c', ': > up; while [ ! -e gate ]; do sleep 0.02; done; exit 4'],
  deaf: ['sh', '-c', 'trap "" TERM; : > up; while :; do sleep 0.1; done'],
  missing: ['no-such-command'],
};

/** Not those of the pretended Slurm, which has the environment of the job. */
const ownProcesses = (directory: string) =>
  readProcesses().filter(
    (entry) => entry.mark() === directory && !entry.argv().some((word) => /pretend-slurm|^const \{/.test(word)),
  );

function isStill(directory: string): boolean {
  const states = ownProcesses(directory).map(({ state }) => state);
  return states.includes('T') && states.every((state) => state === 'T' || state === 'D');
}

const worldOf = (environment: Record<string, string>) => ({
  open: (listener: ExecutorListener) => openSlurmExecutor({ runsDirectory: '/', environment }, listener),
  directory: runFolder,
  spec: (program: Program, directory: string, attempt: number) => orderFor(directory, commands[program], attempt),
  isUp: (directory: string) => existsSync(join(directory, 'up')) && ownProcesses(directory).length > 0,
  isStill,
  killAsksFirst: true as const,
  finish: (directory: string) => writeFileSync(join(directory, 'gate'), ''),
});

conforms('Slurm as it is pretended', () => worldOf(new PretendSlurm(runFolder()).environment));

describe.runIf(hasSlurm('the conformance of jobs of Slurm'))('with a cluster', { timeout: 60_000 }, () => {
  const cluster = clusterOfFile(21_000);
  conforms('Slurm', () => worldOf({ ...cluster(), MEMRL_SLURM_EVERY_MS: '200' }));
});
