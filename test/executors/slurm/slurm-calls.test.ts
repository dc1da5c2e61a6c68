import { chmodSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { type Demand, jobProblem } from '../../../src/executors/slurm/job-options.js';
import { SlurmCalls } from '../../../src/executors/slurm/slurm-calls.js';
import { removeFolder } from '../../remove-folder.js';

const root = mkdtempSync(join(tmpdir(), 'slurm-calls-'));
afterAll(() => removeFolder(root));

/** Calls commands that print what is given here, or fail with it. */
function callsOf(commands: Readonly<Record<string, string>>): SlurmCalls {
  return new SlurmCalls(folderOf(commands));
}

/** An environment in which these are the commands. */
function folderOf(commands: Readonly<Record<string, string>>): Record<string, string> {
  const folder = mkdtempSync(join(root, 'calls-'));
  for (const [name, script] of Object.entries(commands)) {
    writeFileSync(join(folder, name), `#!/bin/sh\n${script}\n`);
    chmodSync(join(folder, name), 0o755);
  }
  return { PATH: `${folder}:${process.env['PATH']}` };
}

it('knows from accounting that a job which was cancelled while it waited had no node', async () => {
  const line = '12_3|15|CANCELLED by 0|None|None assigned|Unknown|0|memrl KEY';
  const calls = callsOf({ sacct: `echo '${line}'` });
  expect(await calls.accounted(['12_3'])).toEqual([
    {
      address: '12_3',
      number: 15,
      state: 'CANCELLED',
      reason: 'None',
      nodes: '',
      start: 'Unknown',
      seconds: 0,
      key: 'KEY.3',
    },
  ]);
});

describe('a job for which Slurm finds no node', () => {
  const sbatch = 'cat > /dev/null; echo "sbatch: error: Requested node configuration is not available" >&2; exit 1';

  it('is refused for good when all nodes are known', async () => {
    expect(await callsOf({ sbatch, sinfo: ':' }).submit([], '', {})).toEqual({
      kind: 'refused',
      reason: 'Slurm refuses it: Requested node configuration is not available',
      transient: false,
    });
  });

  it('waits while nodes have not come back to a controller that has started anew', async () => {
    const sinfo = 'test "$*" = "-h -t unknown -o %N" && echo "n[1-3]"';
    expect(await callsOf({ sbatch, sinfo }).submit([], '', {})).toEqual({
      kind: 'refused',
      reason: "n[1-3] have not come back to Slurm's controller yet",
      transient: true,
    });
  });
});

it('asks why nodes take no jobs once for several looks at the queue', async () => {
  const folder = mkdtempSync(join(root, 'calls-'));
  const sinfo = `case "$*" in *-R*) echo asked >> ${folder}/log; echo 'n1|2026-11-30T02:23:53|cables';; esac`;
  const squeue = "echo '3|3|PENDING|ReqNodeNotAvail||N/A|0:00|N/A|memrl KEY'";
  const calls = callsOf({ sinfo, squeue });
  for (let look = 0; look < 3; look++)
    expect((await calls.queue())![0]!.reason).toMatch(/^nodes take no jobs: n1 since .*: cables;/);
  expect(readFileSync(join(folder, 'log'), 'utf8')).toBe('asked\n');
});

it('says that a node which does not answer comes back with its daemon', async () => {
  const sinfo = "echo 'n2|2026-11-30T02:23:53|Not responding'";
  const squeue = "echo '3|3|PENDING|ReqNodeNotAvail||N/A|0:00|N/A|memrl KEY'";
  const words = / scontrol update nodename=n2 state=resume, once slurmd answers there$/;
  expect((await callsOf({ sinfo, squeue }).queue())![0]!.reason).toMatch(words);
});

describe('while the nodes are drained', () => {
  const sinfo = `case "$*" in
    *-R*) echo 'n[1-2]|2026-11-30T02:23:53|new | cables' ;;
    *CPUs*) echo '       8|   n1|   gpu:4|   gpu:0|  drained|  new | cables' ;;
  esac`;
  const sbatch = 'cat > /dev/null; echo "sbatch: error: Requested node configuration is not available" >&2; exit 1';
  const squeue = (reason: string) =>
    `echo '3_0|4|PENDING|${reason}||N/A|0:00|memrl KEY|'; echo '5|5|PENDING|Priority||N/A|0:00|memrl OTHER|'`;

  it.each([
    ['what a drained node has is waited for', { cpus: 8, gpus: 4 }, null],
    ['more CPUs than any node has are a mistake of the sweep file', { cpus: 9, gpus: 0 }, /node configuration/],
    ['and so are more GPUs', { cpus: 1, gpus: 5 }, /node configuration/],
  ])('%s', async (_, { cpus, gpus }, problem) => {
    const environment = folderOf({ sinfo, sbatch, scontrol: ':' });
    const found = await jobProblem({ cwd: '/', needs: { cpus, gpus, seconds: null } } as Demand, environment);
    if (problem === null) expect(found).toBeNull();
    else expect(found).toMatch(problem);
  });

  it.each([
    [
      'Nodes required for job are DOWN, DRAINED or reserved for jobs in higher priority partitions',
      'idle',
      'its nodes take no jobs, or are kept for a partition of higher priority; of all nodes take no jobs',
    ],
    [
      'Nodes required for job are DOWN, DRAINED or reserved for jobs in higher priority partitions',
      'drained',
      'nodes take no jobs',
    ],
    ['ReqNodeNotAvail, UnavailableNodes:n[1-2]', 'idle', 'nodes take no jobs'],
  ])(
    'a job that waits says which, since when, why, and what ends it: %s, another node is %s',
    async (reason, state, words) => {
      const another = `case "$*" in *NodeList*) echo 'n3|gpu:4|gpu:0|${state}|none' ;; esac`;
      const jobs = (await callsOf({ sinfo: `${sinfo}; ${another}`, squeue: squeue(reason) }).queue())!;
      expect(jobs.map((job) => job.reason)).toEqual([
        `${words}: n[1-2] since 2026-11-30 02:23: new | cables; whoever runs the cluster ends that by: scontrol update nodename=n[1-2] state=resume`,
        'Priority',
      ]);
    },
  );
});
