import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readGpus } from '../../../src/executors/gpu/read-gpus.js';

const withFake = { ...process.env, PATH: `${resolve('test/fixtures')}:${process.env['PATH']}` };

describe('looking for GPUs', () => {
  it('finds them, in PCI bus order', async () => {
    const reading = await readGpus({ ...withFake, FAKE_GPUS: '2' });
    expect(reading).toMatchObject({
      kind: 'gpus',
      gpus: [
        { index: 0, memoryUsed: 3 },
        { index: 1, memoryUsed: 3 },
      ],
    });
  });

  it('finds none where there is no driver', async () => {
    expect(await readGpus({ PATH: '/nonexistent' })).toEqual({ kind: 'none' });
  });

  it('takes what the driver does not know for unknown, not for zero', async () => {
    const reading = await readGpus({ ...withFake, FAKE_GPUS: '1', FAKE_GPU_MODE: 'na' });
    expect(reading).toMatchObject({ gpus: [{ power: null, utilization: null, temperature: 35 }] });
  });

  it('says that a sick driver is sick, which is not the same as no GPU', async () => {
    const failed = await readGpus({ ...withFake, FAKE_GPU_MODE: 'fail' });
    expect(failed).toEqual({ kind: 'unknown', reason: expect.stringContaining('NVIDIA-SMI has failed') as string });
    const hung = await readGpus({ ...withFake, FAKE_GPU_MODE: 'hang' }, 200);
    expect(hung).toEqual({ kind: 'unknown', reason: 'nvidia-smi did not answer within 0.2 s' });
  });
});
