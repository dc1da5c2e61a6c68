import { isOnPath } from '../processes/program-file.js';
import type { Gpu, GpuReading } from './gpu.js';
import { readNvidia } from './nvidia-smi.js';
import { readRocm } from './rocm-smi.js';
import { visibleGpus } from './visible-gpus.js';

/** Time limit of a call, ms, as the tools of a failing driver hang for ever. */
const PATIENCE_MS = 10_000;

/**
 * The GPUs of this machine that `environment` may use, and their processes, by `nvidia-smi` on its PATH, or else `rocm-smi`. Takes
 * 10–200 ms; empty if there is neither. Never rejects, and never takes much longer than `patienceMs` per call. Use a GpuMonitor for
 * repeated readings, which then never overlap.
 */
export async function readGpus(
  environment: Readonly<NodeJS.ProcessEnv>,
  patienceMs: number = PATIENCE_MS,
): Promise<GpuReading> {
  const reading = await readAll({ environment, patienceMs });
  if (reading.kind !== 'gpus') return reading;
  const gpus = allowedGpus(reading.gpus, environment);
  const indexes = new Set(gpus.map(({ index }) => index));
  return { ...reading, gpus, processes: reading.processes.filter(({ gpu }) => indexes.has(gpu)) };
}

async function readAll(asking: { environment: Readonly<NodeJS.ProcessEnv>; patienceMs: number }): Promise<GpuReading> {
  if (isOnPath('nvidia-smi', asking.environment)) return readNvidia(asking);
  return isOnPath('rocm-smi', asking.environment) ? readRocm(asking) : { kind: 'none' };
}

/**
 * The GPUs that Slurm has assigned inside a Slurm job; all of them elsewhere.
 *
 * Slurm writes indices or uuids. If it hides other GPUs from nvidia-smi too, both count from 0, so the result is the same.
 */
export function allowedGpus(gpus: readonly Gpu[], environment: Readonly<NodeJS.ProcessEnv>): readonly Gpu[] {
  const visible = environment['SLURM_JOB_ID'] === undefined ? null : visibleGpus(gpus, environment);
  return visible === null ? gpus : gpus.filter(({ index }) => visible.indexes.includes(index));
}
