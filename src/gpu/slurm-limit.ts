import { gpuName } from '../base/ids.js';
import type { Gpu } from './gpu.js';

/**
 * Inside a Slurm job, the GPUs that Slurm gave to it; elsewhere all.
 *
 * Slurm writes indexes or uuids. Where it hides the others from nvidia-smi too, both count from 0, so the answer is the same.
 */
export function allowedGpus(gpus: readonly Gpu[], environment: Readonly<NodeJS.ProcessEnv>): readonly Gpu[] {
  const given = environment['CUDA_VISIBLE_DEVICES'] ?? environment['ROCR_VISIBLE_DEVICES'];
  if (environment['SLURM_JOB_ID'] === undefined || given === undefined) return gpus;
  const names = given.split(',').map((name) => name.trim());
  return gpus.filter((gpu) => names.some((name) => isNamed(gpu, name)));
}

/** As CUDA understands it: an index, or the first letters of a uuid. A divided GPU's name stands for all its instances. */
function isNamed(gpu: Gpu, name: string): boolean {
  if (/^\d+$/.test(name)) return gpuName(gpu.instanceOf ?? gpu.index) === String(Number(name));
  return name !== '' && gpu.uuid.startsWith(name);
}
