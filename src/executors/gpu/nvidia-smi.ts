import { accessSync, constants } from 'node:fs';
import { join } from 'node:path';
import type { Gpu, GpuReading } from './gpu.js';

const fields = [
  'index',
  'uuid',
  'name',
  'memory.total',
  'memory.used',
  'utilization.gpu',
  'temperature.gpu',
  'power.draw',
] as const;

/** A sick driver makes nvidia-smi hang for ever, ms. */
const PATIENCE_MS = 10_000;

/**
 * The GPUs of this machine, as `nvidia-smi` on the PATH of `environment` sees them. Takes 5–100 ms; nothing where there
 * is no such program. Never rejects.
 */
export async function readGpus(environment: NodeJS.ProcessEnv, patienceMs = PATIENCE_MS): Promise<GpuReading> {
  if (!isOnPath('nvidia-smi', environment['PATH'] ?? '')) return { kind: 'none' };
  // Loaded only where there is a driver: it is a third of the supervisor's start-up time.
  const { execa } = await import('execa');
  const query = [`--query-gpu=${fields.join(',')}`, '--format=csv,noheader,nounits'];
  const options = { env: environment, extendEnv: false, timeout: patienceMs, reject: false } as const;
  const { stdout, exitCode, timedOut } = await execa('nvidia-smi', query, { ...options, killSignal: 'SIGKILL' });
  if (timedOut) return { kind: 'unknown', reason: `nvidia-smi did not answer within ${patienceMs / 1000} s` };
  if (exitCode !== 0) return { kind: 'unknown', reason: stdout.trim() || 'nvidia-smi failed' };
  return { kind: 'gpus', gpus: parseGpus(stdout) };
}

/** The CSV answer, without header and units. Lines that are not about a GPU are left out. */
export function parseGpus(csv: string): Gpu[] {
  return csv
    .split('\n')
    .map((line) => line.split(/,\s*/))
    .filter((cells) => cells.length === fields.length && /^\d+$/.test(cells[0]!.trim()))
    .map(gpuOf)
    .sort((a, b) => a.index - b.index);
}

function gpuOf(cells: string[]): Gpu {
  const [index, uuid, name, ...numbers] = cells.map((cell) => cell.trim());
  const [memoryTotal, memoryUsed, utilization, temperature, power] = numbers.map(numberOf);
  return {
    index: Number(index),
    uuid: uuid!,
    name: name!,
    memoryTotal: memoryTotal ?? null,
    memoryUsed: memoryUsed ?? null,
    utilization: utilization ?? null,
    temperature: temperature ?? null,
    power: power ?? null,
  };
}

/** `[N/A]`, `[Not Supported]`, `[Unknown Error]`, `ERR!`: the driver does not know, which is not an error of the reading. */
function numberOf(cell: string): number | null {
  const value = Number(cell);
  return cell === '' || Number.isNaN(value) ? null : value;
}

function isOnPath(program: string, path: string): boolean {
  return path.split(':').some((folder) => {
    try {
      accessSync(join(folder, program), constants.X_OK);
      return folder !== '';
    } catch {
      return false;
    }
  });
}
