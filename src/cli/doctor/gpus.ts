import { availableParallelism } from 'node:os';
import { gpuName } from '../../base/ids.js';
import { readGpus } from '../../gpu/read-gpus.js';
import type { GpuReading } from '../../gpu/gpu.js';
import { isOnPath } from '../../processes/program-file.js';
import { bad, type Check, type Finding, ok, warn } from './check.js';

/** A driver that is not loaded yet needs a second or two. */
const PATIENCE_MS = 4000;
const SLOW_MS = 1500;

export const gpus: Check = {
  topic: 'Machine',
  name: 'GPUs',
  patienceMs: PATIENCE_MS + 500,
  look: async ({ environment }) => {
    const start = performance.now();
    const reading = await readGpus(environment, PATIENCE_MS);
    return judgeGpus(reading, performance.now() - start);
  },
};

/** @param tookMs How long the tool took to answer. */
export function judgeGpus(reading: GpuReading, tookMs: number): Finding {
  if (reading.kind === 'none') return ok(`none: runs go on CPU slots (${availableParallelism()} cores)`);
  if (reading.kind === 'unknown') {
    return bad(reading.reason, 'Run `nvidia-smi` (or `rocm-smi`) yourself; a driver that hangs needs a reboot.');
  }
  if (reading.gpus.length === 0) {
    return warn(
      'the driver is there, but no GPU for us',
      'Check CUDA_VISIBLE_DEVICES, or the `--gpus` of the container.',
    );
  }
  const shut = reading.gpus.filter(({ computeMode }) => computeMode === 'prohibited');
  if (shut.length > 0) {
    const indexes = shut.map(({ index }) => gpuName(index)).join(', ');
    return bad(`computing is prohibited on GPU ${indexes}`, `Allow it: \`sudo nvidia-smi -i ${indexes} -c DEFAULT\`.`);
  }
  const found = `${namesOf(reading.gpus)}; answers in ${(tookMs / 1000).toFixed(2)} s`;
  if (tookMs < SLOW_MS) return ok(found);
  return warn(`${found}, which is slow`, 'Keep the driver loaded: `sudo nvidia-smi -pm 1`.');
}

/** `4 × NVIDIA H100 (79 GiB), 1 × …`. */
function namesOf(all: Extract<GpuReading, { kind: 'gpus' }>['gpus']): string {
  const counts = new Map<string, number>();
  for (const { name, memoryTotal } of all) {
    const words = memoryTotal === null ? name : `${name} (${Math.round(memoryTotal / 1024)} GiB)`;
    counts.set(words, (counts.get(words) ?? 0) + 1);
  }
  return [...counts].map(([words, count]) => `${count} × ${words}`).join(', ');
}

export const mps: Check = {
  topic: 'Machine',
  name: 'MPS',
  look: ({ environment }) => {
    if (!isOnPath('nvidia-smi', environment)) return ok('not needed without NVIDIA GPUs');
    if (isOnPath('nvidia-cuda-mps-control', environment))
      return ok('available: runs that share a GPU execute concurrently');
    return warn(
      'nvidia-cuda-mps-control is missing: runs that share a GPU take turns',
      'Install the CUDA tools of your driver if you use `per_gpu` above 1.',
    );
  },
};
