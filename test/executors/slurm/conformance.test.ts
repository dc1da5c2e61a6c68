import { existsSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeAll, describe } from 'vitest';
import type { ExecutorListener } from '../../../src/executors/executor.js';
import { openSlurmExecutor } from '../../../src/executors/slurm/slurm-executor.js';
import { readProcesses } from '../../../src/processes/process-table.js';
import { bundledSupervisor } from '../../supervisor/testbed.js';
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
  finish: (directory: string) => writeFileSync(join(directory, 'gate'), ''),
});

const worldOfJobs = (environment: Record<string, string>) => ({
  ...worldOf(environment),
  killAsksFirst: true as const,
});

/** The same runs, taken by workers, which end them as the local executor does. */
function worldOfPacks(environment: Record<string, string>) {
  const runsDirectory = runFolder();
  const setting = { runsDirectory, environment: { ...environment, MEMRL_SLURM_WORKER: worker } };
  return {
    ...worldOf(environment),
    open: (listener: ExecutorListener) => openSlurmExecutor(setting, listener),
    spec: (program: Program, directory: string, attempt: number) => ({
      ...orderFor(directory, commands[program], attempt),
      slurm: { mode: 'packs' as const },
    }),
  };
}

let worker = '';
beforeAll(async () => void (worker = join(dirname(await bundledSupervisor()), 'slurm-worker.js')));

conforms('Slurm as it is pretended', () => worldOfJobs(new PretendSlurm(runFolder()).environment));
conforms('a pack on Slurm as it is pretended', () => worldOfPacks(new PretendSlurm(runFolder()).environment));

describe.runIf(hasSlurm('the conformance of jobs of Slurm'))('with a cluster', { timeout: 60_000 }, () => {
  const cluster = clusterOfFile(21_000);
  conforms('Slurm', () => worldOfJobs({ ...cluster(), MEMRL_SLURM_EVERY_MS: '200' }));
  conforms('a pack on Slurm', () => worldOfPacks({ ...cluster(), MEMRL_SLURM_EVERY_MS: '200' }));
});
