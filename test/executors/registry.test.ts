import { describe, expect, it } from 'vitest';
import { UserError } from '../../src/base/user-error.js';
import { executorNamed, refuseImpossible } from '../../src/executors/registry.js';
import { runFolder } from './local/folder.js';
import { PretendSlurm } from './slurm/pretend-slurm.js';

describe('the kinds of executors', () => {
  it('include this machine', async () => {
    expect(await executorNamed('local')).toBeTypeOf('function');
  });

  it.each(['slrum', 'toString'])('do not include %s, and say which there are', async (name) => {
    await expect(executorNamed(name)).rejects.toThrow(UserError);
    await expect(executorNamed(name)).rejects.toThrow(`There is no executor called ${name}.`);
  });
});

describe('a demand that nobody can meet', () => {
  const needs = { gpus: 0, gpuMemory: null, cpus: 1, seconds: null };

  it('is refused before anything is submitted, with what was asked for', async () => {
    const slurm = new PretendSlurm(runFolder());
    const demand = { cwd: '/', needs, slurm: { partition: 'nowhere' } };
    const refused = refuseImpossible('slurm', [{ cwd: '/', needs }, demand], slurm.environment);
    await expect(refused).rejects.toThrow(/Invalid partition name specified \(asked for: .*--partition=nowhere\)/);
    expect(slurm.addresses()).toEqual([]);
  });

  it('is one for something to type into, which is on the node of the job', async () => {
    const demand = { cwd: '/', needs, input: 'lines' as const };
    await expect(refuseImpossible('slurm', [demand], {})).rejects.toThrow(/On Slurm a run cannot be typed into/);
  });

  it('is any where Slurm is not installed, and none for this machine', async () => {
    await expect(refuseImpossible('slurm', [{ cwd: '/', needs }], { PATH: '/none' })).rejects.toThrow(/no `sbatch`/);
    await expect(refuseImpossible('local', [{ cwd: '/', needs }], { PATH: '/none' })).resolves.toBeUndefined();
  });
});
