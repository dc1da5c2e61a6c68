import { describe, expect, it } from 'vitest';
import { runEnvironment, withProgramFolder } from '../../../src/supervisor/runs/launch-spec.js';

const marks = { id: 's/a', directory: '/runs/s/a', attempt: 2 };

describe('the environment of a run', () => {
  it('shows a GPU run its GPUs alone, numbered as nvidia-smi does, and leaves its threads alone', () => {
    const environment = runEnvironment({ CUDA_VISIBLE_DEVICES: '7', HOME: '/h' }, {}, { gpus: [1, 3], cpus: 1 }, marks);
    expect(environment).toMatchObject({ CUDA_VISIBLE_DEVICES: '1,3', CUDA_DEVICE_ORDER: 'PCI_BUS_ID', HOME: '/h' });
    expect(environment).not.toHaveProperty('OMP_NUM_THREADS');
  });

  it('hides all GPUs from a CPU run and caps its threads', () => {
    const environment = runEnvironment(
      { CUDA_VISIBLE_DEVICES: '7', OMP_NUM_THREADS: '64' },
      {},
      { gpus: [], cpus: 2 },
      marks,
    );
    expect(environment).toMatchObject({ CUDA_VISIBLE_DEVICES: '', OMP_NUM_THREADS: '2', VECLIB_MAXIMUM_THREADS: '2' });
  });

  it('lets the sweep file have its way, except with the marks', () => {
    const own = { OMP_NUM_THREADS: '3', MEMRL_RUN: 'fake', MEMRL_RUN_DIR: '/elsewhere' };
    expect(runEnvironment({}, own, { gpus: [], cpus: 1 }, marks)).toMatchObject({
      ...{ OMP_NUM_THREADS: '3', MEMRL_RUN: 's/a', MEMRL_RUN_DIR: '/runs/s/a', MEMRL_ATTEMPT: '2' },
    });
  });

  it.each([
    [{ PATH: '/a:/b' }, '/a:/b:/bin/ours'],
    [{ PATH: '/bin/ours:/a' }, '/bin/ours:/a'],
    [{}, '/usr/local/bin:/usr/bin:/bin:/bin/ours'],
  ])('finds our own programs last: %j → %s', (environment, path) => {
    expect(withProgramFolder(environment, '/bin/ours')['PATH']).toBe(path);
  });
});
