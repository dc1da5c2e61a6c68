import { spawnSync } from 'node:child_process';
import { mkdtempSync, realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import { removeFolder } from '../../remove-folder.js';

const script = resolve('scripts/slurm-dev.sh');
const programs = ['slurmctld', 'slurmd', 'munged', 'sbatch'];

/** Whether a throw-away cluster of Slurm can be started here. Says loudly which tests are left out when not. */
export function hasSlurm(needed: string): boolean {
  const missing = programs.filter((name) => spawnSync('sh', ['-c', `command -v ${name}`]).status !== 0);
  const isRoot = process.getuid?.() === 0;
  if (missing.length === 0 && isRoot) return true;
  const why = isRoot ? `${missing.join(', ')} not installed here` : 'a cluster can be started by root alone';
  console.warn(`SKIPPED, because Slurm is not there (${why}): ${needed}`);
  return false;
}

/** A cluster of three nodes on this machine, while the tests of this file run: the environment in which its commands are called. */
export function clusterOfFile(port: number): () => Record<string, string> {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), 'slurm-')));
  const own = { SLURM_DEV_DIR: directory, SLURM_DEV_NODES: '3', SLURM_DEV_PORT: String(port) };
  const env = { ...process.env, ...own, PATH: `${process.env['PATH']}:/usr/sbin:/sbin` };
  const call = (verb: string) => spawnSync('bash', [script, verb], { env, encoding: 'utf8' });
  beforeAll(() => {
    const started = call('start');
    if (started.status !== 0) throw new Error(`the cluster did not start: ${started.stderr}`);
  }, 60_000);
  afterAll(() => {
    call('stop');
    removeFolder(directory);
  }, 60_000);
  return () => ({ ...(process.env as Record<string, string>), SLURM_CONF: join(directory, 'slurm.conf') });
}
