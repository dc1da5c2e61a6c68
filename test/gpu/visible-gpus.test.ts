import { describe, expect, it } from 'vitest';
import type { Gpu } from '../../src/gpu/gpu.js';
import { visibleGpus } from '../../src/gpu/visible-gpus.js';

function gpu(index: number, over: Partial<Gpu> = {}): Gpu {
  const memory = { memoryTotal: 80_000, memoryUsed: 0 };
  const gauges = { utilization: 0, temperature: 30, power: 50, computeMode: 'default' as const };
  return {
    ...{ index, uuid: `GPU-${index}a${index}b-fake`, bus: null, name: 'A100', vendor: 'nvidia', instanceOf: null },
    ...{ ...memory, ...gauges, ...over },
  };
}

const four = [0, 1, 2, 3].map((index) => gpu(index));
const divided = [
  gpu(0),
  ...[0, 1].map((k) => gpu(2000 + k, { uuid: `MIG-1c${k}`, instanceOf: 1 })),
  gpu(2, { uuid: 'GPU-2a3' }),
  gpu(3, { uuid: 'GPU-2a4' }),
];
const amd = ['0xfa0', '0x00fa1', '0xfa2'].map((uuid, index) => gpu(index, { uuid, vendor: 'amd' }));

describe('the GPUs that an environment leaves to a program', () => {
  it.each<{ variable: string; gpus?: Gpu[]; indexes: number[] }>([
    { variable: '0,2', indexes: [0, 2] },
    { variable: '3, 1', indexes: [3, 1] },
    { variable: '1,1', indexes: [1] },
    { variable: '', indexes: [] },
    { variable: '-1', indexes: [] },
    { variable: 'NoDevFiles', indexes: [] },
    { variable: 'none', indexes: [] },
    { variable: '0,-1,1', indexes: [0] },
    { variable: '0,9,1', indexes: [0] },
    { variable: '1,x,2', indexes: [1] },
    { variable: 'GPU-2a2b-fake,GPU-0', indexes: [2, 0] },
    { variable: 'gpu-3A', indexes: [3] },
    { variable: 'GPU-', indexes: [] },
    { variable: 'GPU-9', indexes: [] },
    // Two begin so.
    { variable: '0,GPU-2a', gpus: divided, indexes: [0] },
    { variable: '1,2', gpus: divided, indexes: [2000, 2001, 2] },
    { variable: 'MIG-1c1,0', gpus: divided, indexes: [2001, 0] },
    { variable: '0', gpus: [], indexes: [] },
  ])('CUDA_VISIBLE_DEVICES=$variable → $indexes', ({ variable, gpus = four, indexes }) => {
    const visible = visibleGpus(gpus, { CUDA_VISIBLE_DEVICES: variable });
    expect(visible).toEqual({ indexes, said: `CUDA_VISIBLE_DEVICES=${variable}` });
  });

  it('are all, where nothing is said', () => {
    expect(visibleGpus(four, { ROCR_VISIBLE_DEVICES: '0' })).toBeNull();
    expect(visibleGpus(null, {})).toBeNull();
  });

  it.each<{ environment: Record<string, string>; indexes: number[] }>([
    { environment: { ROCR_VISIBLE_DEVICES: '2,0' }, indexes: [2, 0] },
    { environment: { HIP_VISIBLE_DEVICES: '1' }, indexes: [1] },
    { environment: { CUDA_VISIBLE_DEVICES: '1' }, indexes: [1] },
    { environment: { ROCR_VISIBLE_DEVICES: '2,0', HIP_VISIBLE_DEVICES: '1' }, indexes: [0] },
    { environment: { HIP_VISIBLE_DEVICES: '2', CUDA_VISIBLE_DEVICES: '1' }, indexes: [2] },
    { environment: { ROCR_VISIBLE_DEVICES: 'GPU-0000000000000fa1' }, indexes: [1] },
    { environment: { HIP_VISIBLE_DEVICES: '-1' }, indexes: [] },
  ])('of AMD are chosen first by ROCR, and within those by HIP: $environment', ({ environment, indexes }) => {
    expect(visibleGpus(amd, environment)?.indexes).toEqual(indexes);
  });

  it.each<{ variable: string; indexes: number[] | undefined }>([
    { variable: '4,5', indexes: [4, 5] },
    { variable: '', indexes: [] },
    { variable: '0,GPU-1', indexes: undefined },
  ])('are believed while no driver has answered: $variable', ({ variable, indexes }) => {
    expect(visibleGpus(null, { CUDA_VISIBLE_DEVICES: variable })?.indexes).toEqual(indexes);
  });
});
