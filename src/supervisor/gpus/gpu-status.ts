import type { Gpu } from '../../gpu/gpu.js';
import type { GpuView } from '../../gpu/gpu-view.js';
import type { GpuStatus } from '../../protocol/fleet-status.js';
import type { GpuDevice } from '../../scheduler/state.js';

/** One GPU for the clients: what the scheduler counts with, and what was seen last. `runs`: their ids. */
export function gpuStatus(device: GpuDevice, view: GpuView, runs: readonly string[], mps: boolean): GpuStatus {
  const { index, uuid, memory: memoryTotal, drained, leasedBy } = device;
  const seen = view.gpus.find((gpu) => gpu.index === index);
  return {
    ...{ index, uuid, runs: [...runs], drained, leasedBy, mps },
    ...(seen === undefined ? { ...unseen, memoryTotal } : gauges(seen)),
    foreign: (view.foreign.get(index) ?? []).map(({ pid, name, memory }) => ({
      ...{ pid, name: name ?? 'a process', memory },
    })),
  };
}

const unseen = { name: null, memoryUsed: null, utilization: null, temperature: null, power: null };

function gauges(gpu: Gpu) {
  const { uuid, name, memoryTotal, memoryUsed, utilization, temperature, power } = gpu;
  return { uuid, name, memoryTotal, memoryUsed, utilization, temperature, power };
}
