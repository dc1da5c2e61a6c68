import { describe, expect, it } from 'vitest';
import { instanceIndex } from '../../src/base/ids.js';
import { runEnvironment } from '../../src/supervisor/runs/launcher.js';
import { type Gpu, sharesAllowed, visibleDevices } from '../../src/gpu/gpu.js';

function gpu(index: number, own: Partial<Gpu> = {}): Gpu {
  return {
    ...{ index, uuid: `GPU-${index}`, bus: null, name: 'G', vendor: 'nvidia', instanceOf: null, computeMode: null },
    ...{ memoryTotal: null, memoryUsed: null, utilization: null, temperature: null, power: null },
    ...own,
  };
}

const instance = gpu(instanceIndex(1, 0), { uuid: 'MIG-x', instanceOf: 1 });
const amd = [0, 1, 2].map((index) => gpu(index, { vendor: 'amd' }));

describe('the variables that show a run its GPUs', () => {
  it.each([
    { what: 'by index', gpus: [2, 0], inventory: [gpu(0), gpu(1), gpu(2)], visible: '2,0' },
    { what: 'by index though the driver does not answer', gpus: [3], inventory: [], visible: '3' },
    {
      what: 'by uuid with an instance among them',
      gpus: [0, 2000],
      inventory: [gpu(0), instance],
      visible: 'GPU-0,MIG-x',
    },
    { what: 'none', gpus: [], inventory: [gpu(0)], visible: '' },
  ])('$what', ({ gpus, inventory, visible }) => {
    expect(visibleDevices(gpus, inventory)).toEqual({ CUDA_DEVICE_ORDER: 'PCI_BUS_ID', CUDA_VISIBLE_DEVICES: visible });
  });

  it('choose for AMD by one, and count within the choice by the others', () => {
    expect(visibleDevices([2, 1], amd)).toEqual({
      ...{ ROCR_VISIBLE_DEVICES: '2,1', HIP_VISIBLE_DEVICES: '0,1', CUDA_VISIBLE_DEVICES: '0,1' },
    });
    expect(visibleDevices([], amd)).toMatchObject({ ROCR_VISIBLE_DEVICES: '-1', CUDA_VISIBLE_DEVICES: '' });
  });

  it('reach the run in the place of those by index, and the sweep file still wins', () => {
    const place = {
      gpus: [2000],
      threads: 1,
      devices: { CUDA_VISIBLE_DEVICES: 'MIG-x', CUDA_MPS_PIPE_DIRECTORY: '/p' },
    };
    const marks = { id: 's/a', directory: '/r', attempt: 1 };
    const environment = runEnvironment(
      { CUDA_VISIBLE_DEVICES: '7' },
      { CUDA_MPS_PIPE_DIRECTORY: '/own' },
      place,
      marks,
    );
    expect(environment).toMatchObject({ CUDA_VISIBLE_DEVICES: 'MIG-x', CUDA_MPS_PIPE_DIRECTORY: '/own' });
    const onCpu = runEnvironment({}, {}, { gpus: [], threads: 2, devices: visibleDevices([], amd) }, marks);
    expect(onCpu).toMatchObject({ HIP_VISIBLE_DEVICES: '-1', OMP_NUM_THREADS: '2' });
  });
});

describe('how many runs may share a GPU', () => {
  it.each<[Gpu['computeMode'], boolean, number]>([
    ['default', false, Infinity],
    [null, false, Infinity],
    ['exclusive', false, 1],
    ['exclusive', true, Infinity],
    ['prohibited', true, 0],
  ])('in mode %s, with MPS %s: %s', (computeMode, hasMps, most) => {
    expect(sharesAllowed(gpu(0, { computeMode }), hasMps)).toBe(most);
  });
});
