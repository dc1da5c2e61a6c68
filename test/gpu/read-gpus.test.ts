import { describe, expect, it } from 'vitest';
import { instanceIndex } from '../../src/base/ids.js';
import { readGpus } from '../../src/gpu/read-gpus.js';
import { FakeDriver } from './fake-gpus.js';

const withDriver = (state: Record<string, string>, ...drivers: ('nvidia' | 'rocm')[]) => {
  const driver = new FakeDriver(...(drivers.length > 0 ? drivers : (['nvidia'] as const)));
  driver.set(state);
  return driver.environment;
};

describe('looking for GPUs', () => {
  it('finds them and who is on them, in PCI bus order', async () => {
    const apps = '0:11:500 1:12:N/A:[Not Found] 1:13:64:/opt/my,own/train';
    const reading = await readGpus(
      withDriver({ FAKE_GPUS: '2', FAKE_GPU_APPS: apps, FAKE_COMPUTE: 'Default Exclusive_Process' }),
    );
    expect(reading).toEqual({
      kind: 'gpus',
      gpus: [
        {
          ...{
            index: 0,
            uuid: 'GPU-00000000-fake',
            bus: '00000000:01:00.0',
            name: 'NVIDIA Fake 80GB',
            vendor: 'nvidia',
          },
          ...{ instanceOf: null, memoryTotal: 81559, memoryUsed: 503, utilization: 90, temperature: 35, power: 70.12 },
          computeMode: 'default',
        },
        expect.objectContaining({ index: 1, memoryUsed: 67, computeMode: 'exclusive' }),
      ],
      processes: [
        { gpu: 0, pid: 11, memory: 500, name: 'python' },
        { gpu: 1, pid: 12, memory: null, name: null },
        { gpu: 1, pid: 13, memory: 64, name: 'train' },
      ],
    });
  });

  it('finds none where there is no driver, and none where the driver has none', async () => {
    expect(await readGpus({ PATH: '/nonexistent' })).toEqual({ kind: 'none' });
    expect(await readGpus({})).toEqual({ kind: 'none' });
    expect(await readGpus(withDriver({ FAKE_GPUS: '0' }))).toEqual({ kind: 'gpus', gpus: [], processes: [] });
  });

  it('takes what the driver does not know for unknown, not for zero', async () => {
    expect(await readGpus(withDriver({ FAKE_GPUS: '1', FAKE_GPU_MODE: 'na' }))).toMatchObject({
      gpus: [{ power: null, utilization: null, computeMode: null, temperature: 35 }],
    });
  });

  it.each([
    { mode: 'fail', reason: 'nvidia-smi failed: NVIDIA-SMI has failed because' },
    { mode: 'short', reason: 'nvidia-smi failed: exit code 255' },
    { mode: 'partial', reason: 'nvidia-smi answered only in part: Unable to determine the device handle' },
    { mode: 'garbage', reason: 'nvidia-smi answered only in part: Segmentation fault' },
  ])('takes no answer and half an answer ($mode) for a sick driver, not for fewer GPUs', async ({ mode, reason }) => {
    const reading = await readGpus(withDriver({ FAKE_GPUS: '2', FAKE_GPU_MODE: mode }));
    expect(reading).toEqual({ kind: 'unknown', reason: expect.stringContaining(reason) as string });
  });

  it.each([
    { fallen: '2', others: [0, 1, 3] },
    { fallen: '0', others: [1, 2, 3] },
    { fallen: '3', others: [0, 1, 2] },
  ])('reads the others where GPU $fallen has fallen off the bus, and names it', async ({ fallen, others }) => {
    const state = { FAKE_GPUS: '4', FAKE_GPU_FALLEN: fallen, FAKE_GPU_APPS: '1:11:500' };
    const reading = await readGpus(withDriver(state));
    expect(reading).toMatchObject({
      gpus: others.map((index) => ({ index })),
      processes: [{ gpu: 1, pid: 11, memory: 500 }],
      lost: { indexes: [Number(fallen)], words: expect.stringContaining('GPU is lost') as string },
    });
  });

  it('does not wait for ever', async () => {
    const reading = await readGpus(withDriver({ FAKE_GPU_MODE: 'hang' }), 200);
    expect(reading).toEqual({ kind: 'unknown', reason: 'nvidia-smi did not answer within 0.2 s' });
  });

  it.each(['warn', 'old'])('accepts a whole answer that came with a warning (%s)', async (mode) => {
    expect(await readGpus(withDriver({ FAKE_GPUS: '2', FAKE_GPU_MODE: mode }))).toMatchObject({
      kind: 'gpus',
      gpus: [{ index: 0, computeMode: 'default' }, { index: 1 }],
    });
  });

  it('puts the instances of a divided GPU in its place, with what each holds', async () => {
    const state = { FAKE_GPUS: '2', FAKE_GPU_MIG: '1=2', FAKE_GPU_APPS: '0:11:5 1/0:12:100 1/1:13:200' };
    const reading = await readGpus(withDriver(state));
    expect(reading).toMatchObject({
      gpus: [
        { index: 0, instanceOf: null },
        {
          ...{ index: instanceIndex(1, 0), uuid: 'MIG-00000001-fake-0', name: 'NVIDIA Fake 80GB MIG 1g.10gb' },
          ...{ instanceOf: 1, memoryTotal: 9856, memoryUsed: 112, utilization: null, temperature: 35 },
        },
        { index: instanceIndex(1, 1), uuid: 'MIG-00000001-fake-1', memoryUsed: 212 },
      ],
      processes: [
        { gpu: 0, pid: 11 },
        { gpu: instanceIndex(1, 0), pid: 12, memory: 100 },
        { gpu: instanceIndex(1, 1), pid: 13, memory: 200 },
      ],
    });
  });

  it('shows inside a Slurm job what Slurm gave, by index or uuid', async () => {
    const indexes = async (own: Record<string, string>) => {
      const reading = await readGpus({ ...withDriver({ FAKE_GPUS: '4', FAKE_GPU_APPS: '0:1:5 2:3:5' }), ...own });
      return reading.kind === 'gpus'
        ? [reading.gpus.map(({ index }) => index), reading.processes.map(({ pid }) => pid)]
        : [];
    };
    expect(await indexes({ SLURM_JOB_ID: '7', CUDA_VISIBLE_DEVICES: '1,2' })).toEqual([[1, 2], [3]]);
    expect(await indexes({ SLURM_JOB_ID: '7', CUDA_VISIBLE_DEVICES: 'GPU-00000003' })).toEqual([[3], []]);
    expect(await indexes({ SLURM_JOB_ID: '7', CUDA_VISIBLE_DEVICES: '' })).toEqual([[], []]);
    expect(await indexes({ SLURM_JOB_ID: '7' })).toEqual([
      [0, 1, 2, 3],
      [1, 3],
    ]);
    expect(await indexes({ CUDA_VISIBLE_DEVICES: '1' })).toEqual([
      [0, 1, 2, 3],
      [1, 3],
    ]);
  });
});

describe('looking for GPUs of AMD', () => {
  it('asks rocm-smi where there is no nvidia-smi', async () => {
    const reading = await readGpus(withDriver({ FAKE_GPU_APPS: '0:11:500 1:12:64:train 0:13:30 1:13:50' }, 'rocm'));
    expect(reading).toEqual({
      kind: 'gpus',
      gpus: [
        {
          ...{ index: 0, uuid: '0xfa0', bus: '0000:01:00.0', name: 'AMD Fake MI300', vendor: 'amd', instanceOf: null },
          ...{ memoryTotal: 196592, memoryUsed: 540, utilization: 7, temperature: 41, power: 133, computeMode: null },
        },
        expect.objectContaining({ index: 1, memoryUsed: 124 }),
      ],
      processes: [
        { gpu: 0, pid: 11, memory: 500, name: 'python3' },
        { gpu: 1, pid: 12, memory: 64, name: 'train' },
        // How much it holds on which is not said.
        { gpu: 0, pid: 13, memory: null, name: 'python3' },
        { gpu: 1, pid: 13, memory: null, name: 'python3' },
      ],
    });
  });

  it('prefers nvidia-smi where both are', async () => {
    expect(await readGpus(withDriver({ FAKE_GPUS: '1' }, 'rocm', 'nvidia'))).toMatchObject({
      gpus: [{ vendor: 'nvidia' }],
    });
  });

  it.each([
    { mode: 'fail', reason: 'rocm-smi failed: ERROR:root:Driver not initialized (amdgpu not found in modules)' },
    { mode: 'garbage', reason: 'rocm-smi printed something other than its GPUs' },
    { mode: 'hang', reason: 'rocm-smi did not answer within 0.2 s' },
  ])('says that it is sick ($mode)', async ({ mode, reason }) => {
    const reading = await readGpus(withDriver({ FAKE_GPU_MODE: mode }, 'rocm'), mode === 'hang' ? 200 : undefined);
    expect(reading).toEqual({ kind: 'unknown', reason });
  });

  it('takes what is not known for unknown', async () => {
    expect(await readGpus(withDriver({ FAKE_GPU_MODE: 'na' }, 'rocm'))).toMatchObject({
      gpus: [{ utilization: null, temperature: null, power: null }, {}],
    });
  });
});
