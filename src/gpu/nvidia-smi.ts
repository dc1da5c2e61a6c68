import { basename } from 'node:path';
import { askProgram } from '../processes/short-call.js';
import type { Gpu, GpuReading } from './gpu.js';
import { type DriverProcess, type DriverRow, type Instance, parseInstances, withInstances } from './mig.js';

const fields = [
  'index',
  'uuid',
  'pci.bus_id',
  'memory.total',
  'memory.used',
  'utilization.gpu',
  'temperature.gpu',
  'power.draw',
  'compute_mode',
  'mig.mode.current',
  // Last, because it may hold a comma.
  'name',
] as const;
const processFields = ['gpu_uuid', 'pid', 'used_gpu_memory', 'process_name'] as const;

/** Its exit code when the only trouble is a checksum of a GPU's settings: the answer is whole. */
const INFO_ROM_CORRUPTED = 14;

/** How nvidia-smi is called: environment and patience. */
export type Asking = { environment: Readonly<NodeJS.ProcessEnv>; patienceMs: number };

/** The GPUs as `nvidia-smi` sees them, and who is on them. Two calls, 5–100 ms each; two more where a GPU is divided. */
export async function readNvidia(asking: Asking): Promise<GpuReading> {
  try {
    const ask = (...args: string[]) => answerOf(asking, args);
    // The processes first: what grows in between must not look like memory that nobody holds.
    const apps = await ask(`--query-compute-apps=${processFields.join(',')}`, '--format=csv,noheader,nounits');
    const rows = parseRows(await gpuTable(ask));
    const isAnyDivided = rows.some(({ isDivided }) => isDivided);
    const instances: Instance[] = isAnyDivided ? parseInstances(await ask('-L'), await ask('-q', '-x')) : [];
    return { kind: 'gpus', ...withInstances(rows, instances, parseApps(apps)) };
  } catch (error) {
    if (error instanceof Sick) return { kind: 'unknown', reason: error.message };
    throw error;
  }
}

/** Nvidia-smi did not answer, or not with what was asked. */
class Sick extends Error {}

/** Drivers from before there was MIG do not know the word; they are asked for another field in its place. */
async function gpuTable(ask: (...args: string[]) => Promise<string>): Promise<string> {
  const table = (names: readonly string[]) => ask(`--query-gpu=${names.join(',')}`, '--format=csv,noheader,nounits');
  try {
    return await table(fields);
  } catch (error) {
    if (!(error instanceof Sick) || !error.message.includes('mig.mode.current')) throw error;
    return table(fields.map((field) => (field === 'mig.mode.current' ? 'compute_mode' : field)));
  }
}

async function answerOf({ environment, patienceMs }: Asking, args: readonly string[]): Promise<string> {
  const answer = await askProgram({ program: 'nvidia-smi', args, environment, patienceMs });
  switch (answer.kind) {
    case 'answered':
      return answer.stdout;
    case 'hung':
      throw new Sick(`nvidia-smi did not answer within ${patienceMs / 1000} s`);
    case 'failed':
      if (answer.code === INFO_ROM_CORRUPTED) return answer.stdout;
      throw new Sick(`nvidia-smi failed: ${answer.reason}`);
  }
}

/**
 * One row a GPU, without header and units, in PCI bus order. Throws where any line is something else: half a list must
 * not pass for the whole.
 */
export function parseRows(csv: string): DriverRow[] {
  const lines = csv.split('\n').map((line) => line.trim());
  const rows = lines.filter((line) => line !== '' && !isRemark(line)).map(rowOf);
  return rows.sort((a, b) => a.index - b.index);
}

/** One row a process and GPU. A line without a pid (`[Not Supported]`, no processes) says nothing. */
export function parseApps(csv: string): DriverProcess[] {
  return csv.split('\n').flatMap((line) => {
    const [uuid, pid, memory, ...name] = line.split(',').map((cell) => cell.trim());
    if (uuid === undefined || pid === undefined || !/^[1-9]\d{0,9}$/.test(pid)) return [];
    return [{ uuid, pid: Number(pid), memory: numberOf(memory ?? ''), name: programOf(name.join(',')) }];
  });
}

function isRemark(line: string): boolean {
  return line.startsWith('WARNING:') || /^No devices were found/.test(line);
}

function rowOf(line: string): DriverRow {
  const cells = line.split(',').map((cell) => cell.trim());
  const [index, uuid, bus, ...rest] = cells;
  if (cells.length < fields.length || !/^\d+$/.test(index!) || !uuid!.startsWith('GPU-')) {
    throw new Sick(`nvidia-smi answered only in part: ${line.slice(0, 200)}`);
  }
  const [memoryTotal, memoryUsed, utilization, temperature, power] = rest.slice(0, 5).map(numberOf);
  const [mode, mig, ...name] = rest.slice(5);
  return {
    ...{ index: Number(index), uuid: uuid!, bus: bus!, name: name.join(', '), vendor: 'nvidia', instanceOf: null },
    ...{ memoryTotal: memoryTotal!, memoryUsed: memoryUsed!, utilization: utilization! },
    ...{ temperature: temperature!, power: power! },
    computeMode: computeModeOf(mode!),
    isDivided: mig === 'Enabled',
  };
}

function computeModeOf(cell: string): Gpu['computeMode'] {
  if (cell === 'Default') return 'default';
  if (cell.startsWith('Exclusive')) return 'exclusive';
  return cell === 'Prohibited' ? 'prohibited' : null;
}

/** `[N/A]`, `[Not Supported]`, `[Unknown Error]`, `ERR!`: the driver does not know, which is not an error of the reading. */
function numberOf(cell: string): number | null {
  const value = Number(cell);
  return cell === '' || Number.isNaN(value) ? null : value;
}

function programOf(cell: string): string | null {
  return cell === '' || cell === '-' || cell.startsWith('[') ? null : basename(cell);
}
