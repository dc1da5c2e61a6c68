import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Finding } from '../../../src/cli/doctor/check.js';
import { nodeCheck, slurmChecks } from '../../../src/cli/doctor/slurm.js';

let folder: string;
beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), 'doctor-'))));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** A command of Slurm that does this. */
function command(name: string, script: string): void {
  writeFileSync(join(folder, name), `#!/bin/sh\n${script}\n`);
  chmodSync(join(folder, name), 0o755);
}

async function found(name: string): Promise<Finding> {
  const check = [...slurmChecks, nodeCheck].find((each) => each.name === name)!;
  const environment = { PATH: `${folder}:${process.env['PATH']}` };
  return check.look({ runsDirectory: folder, environment, size: null, uid: 0 });
}

const config = `cat <<'END'
ClusterName             = lab
KillWait                = 30 sec
MaxArraySize            = 1001
MinJobAge               = 300 sec
END`;

describe('what doctor finds of Slurm', () => {
  beforeEach(() => command('sbatch', 'echo slurm-wlm 22.05.8'));

  it('is the version, the cluster and its limits', async () => {
    command('scontrol', config);
    const limits = 'arrays up to 1001, ended jobs known for 300 sec, SIGKILL 30 sec after SIGTERM';
    expect(await found('Controller')).toEqual({ state: 'ok', found: `slurm-wlm 22.05.8, cluster lab: ${limits}` });
  });

  it('is a controller that does not answer', async () => {
    command('scontrol', 'exit 1');
    expect(await found('Controller')).toMatchObject({ state: 'bad', fix: 'Try `scontrol ping`.' });
  });

  it('is each partition, with what its nodes have', async () => {
    command('sinfo', "printf '%s\\n' 'main*|3|gpu:4|infinite|up' 'old|1|(null)|1:00:00|down'");
    const words = 'main* (3 nodes, gpu:4, at most infinite); old (1 nodes, no GPU, at most 1:00:00, down)';
    expect(await found('Partitions')).toEqual({ state: 'ok', found: words });
  });

  it.each([
    { script: 'true', words: 'sacct tells of jobs that the controller has forgotten' },
    { script: 'exit 1', words: expect.stringContaining('there is none') as string },
  ])('is whether there is accounting: $script', async ({ script, words }) => {
    command('sacct', script);
    expect(await found('Accounting')).toEqual({ state: 'ok', found: words });
  });

  it.each([
    {
      what: 'all is well',
      srun: 'shift 5; exec "$@"',
      finding: { state: 'ok', found: expect.stringContaining('has Node for packs, and its clock agrees') as string },
    },
    {
      what: 'the disk is not shared',
      srun: 'date +%s; echo n1',
      finding: { state: 'bad', found: expect.stringMatching(/^n1 cannot write to/) as string },
    },
    {
      what: 'another clock',
      srun: 'echo seen; echo $(($(date +%s) - 100)); echo n1',
      finding: { state: 'warn', found: expect.stringMatching(/^the clock of n1 is 10\d s behind$/) as string },
    },
    {
      what: 'no Node',
      srun: 'echo seen; echo no-node; date +%s; echo n1',
      finding: {
        state: 'warn',
        found: expect.stringMatching(/^n1 has no .*node, which the workers of packs need/) as string,
      },
    },
    { what: 'no job', srun: 'exit 1', finding: { state: 'warn', found: 'no job could be run just now' } },
  ])('is what a node sees: $what', async ({ srun, finding }) => {
    command('srun', srun);
    expect(await found('A node')).toMatchObject(finding);
  });
});

it('is nothing where Slurm is not', async () => {
  const [check] = slurmChecks;
  const environment = { PATH: folder };
  const finding = await check!.look({ runsDirectory: folder, environment, size: null, uid: 0 });
  expect(finding).toEqual({ state: 'ok', found: 'not here (needed only by --executor slurm)' });
});
