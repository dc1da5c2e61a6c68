import { describe, expect, it } from 'vitest';
import { allocationNote, packNote, slurmSlots } from '../../../src/cli/launch/notes.js';
import { Resources } from '../../../src/spec/planned-run.js';
import { plan } from '../../supervisor/testbed.js';

function runsWith(count: number, resources: object, timeout: number | null = null) {
  const one = { resources: Resources.parse(resources), timeout };
  return plan(
    '/runs',
    's',
    Array.from({ length: count }, () => one),
  ).runs;
}

describe('the plan of a sweep on Slurm', () => {
  it.each([
    { what: 'long runs', runs: runsWith(3, { gpus: 0 }), slots: Array(3).fill('slurm job'), note: null },
    {
      what: 'short runs',
      runs: runsWith(30, { gpus: 0 }, 60),
      slots: Array(8).fill('slurm worker'),
      note: '30 runs in packs: jobs of Slurm that take one after the other, as each ends within some ten minutes; `slurm: { mode: jobs }` makes each a job of its own',
    },
    {
      what: 'runs that share a GPU',
      runs: runsWith(5, { gpus: 1, per_gpu: 4 }),
      slots: Array(5).fill('slurm worker'),
      note: expect.stringContaining('as 4 share a GPU') as string,
    },
    {
      what: 'what a person wants',
      runs: runsWith(4, { gpus: 0, slurm: { mode: 'packs', workers: 2 } }),
      slots: Array(2).fill('slurm worker'),
      note: '4 runs in packs: jobs of Slurm that take one after the other',
    },
    {
      what: 'short runs as jobs',
      runs: runsWith(2, { gpus: 0, slurm: { mode: 'jobs' } }, 60),
      slots: Array(2).fill('slurm job'),
      note: null,
    },
  ])('says what is packed, and why: $what', ({ runs, slots, note }) => {
    expect([slurmSlots(runs, 100, undefined), packNote(runs, undefined)]).toEqual([slots, note]);
  });

  it('takes the number of runs on a GPU from the command line', () => {
    expect(packNote(runsWith(2, { gpus: 1 }), 3)).toContain('as 3 share a GPU');
  });
});

describe('a launch inside an allocation', () => {
  const job = { SLURM_JOB_ID: '7', SLURMD_NODENAME: 'n1' };
  it.each([
    { environment: {}, note: null },
    {
      environment: { ...job, CUDA_VISIBLE_DEVICES: '0,2' },
      note: 'inside Slurm job 7: runs are started here on n1, on its GPUs 0,2, and end with the job',
    },
    {
      environment: job,
      note: 'inside Slurm job 7: runs are started here on n1, which has no GPU, and end with the job',
    },
    { environment: { SLURM_JOB_ID: '7' }, note: expect.stringContaining('srun --pty --overlap') as string },
  ])('says where its runs are started: $environment', ({ environment, note }) => {
    expect(allocationNote({}, environment)).toEqual(note);
    expect(allocationNote({ executor: 'slurm' }, environment)).toBeNull();
  });
});
