import { gpuName } from '../base/ids.js';
import { isOnPath } from '../processes/program-file.js';
import type { Gpu, GpuReading } from './gpu.js';
import { readNvidia } from './nvidia-smi.js';
import { readRocm } from './rocm-smi.js';

/** A sick driver makes its tools hang for ever, ms. */
const PATIENCE_MS = 10_000;

/**
 * The GPUs of this machine that `environment` may use, and the processes on them, as `nvidia-smi` on its PATH sees them,
 * or else `rocm-smi`. Takes 10–200 ms; nothing where there is neither. Never rejects, and never takes much longer than
 * `patienceMs` a call. Whoever asks again and again takes a GpuMonitor, whose readings never overlap.
 */
export async function readGpus(
  environment: Readonly<NodeJS.ProcessEnv>,
  patienceMs: number = PATIENCE_MS,
): Promise<GpuReading> {
  const reading = await readAll({ environment, patienceMs });
  if (reading.kind !== 'gpus') return reading;
  const gpus = allowedGpus(reading.gpus, environment);
  const indexes = new Set(gpus.map(({ index }) => index));
  return { kind: 'gpus', gpus, processes: reading.processes.filter(({ gpu }) => indexes.has(gpu)) };
}

async function readAll(asking: { environment: Readonly<NodeJS.ProcessEnv>; patienceMs: number }): Promise<GpuReading> {
  if (isOnPath('nvidia-smi', asking.environment)) return readNvidia(asking);
  return isOnPath('rocm-smi', asking.environment) ? readRocm(asking) : { kind: 'none' };
}

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
