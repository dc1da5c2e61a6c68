import { basename } from 'node:path';
import { instanceIndex } from '../base/ids.js';
import { askProgram } from '../processes/short-call.js';
import type { Gpu, GpuProcess, GpuReading } from './gpu.js';

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

/** A GPU as the driver lists it. */
type DriverRow = Gpu & { isDivided: boolean };
/** A process as the driver lists it: by uuid of the GPU, or of the instance. */
type DriverProcess = Omit<GpuProcess, 'gpu'> & { uuid: string };

/**
 * Part of a divided GPU (MIG). Such parts are named by `nvidia-smi -L`; what they hold, and which process is on which, is said
 * only by the full report, `nvidia-smi -q -x`.
 */
type Instance = {
  /** Index of the GPU, and of the instance within it. */
  parent: number;
  number: number;
  uuid: string;
  /** `1g.10gb` */
  profile: string;
  memoryTotal: number | null;
  memoryUsed: number | null;
  /** Pids. */
  processes: readonly number[];
};

/** Puts the instances in the place of the GPUs that are divided, and each process where it is. */
export function withInstances(
  rows: readonly DriverRow[],
  instances: readonly Instance[],
  apps: readonly DriverProcess[],
): { gpus: Gpu[]; processes: GpuProcess[] } {
  const gpus = rows.flatMap(({ isDivided, ...gpu }) =>
    isDivided ? instances.filter(({ parent }) => parent === gpu.index).map((instance) => gpuOf(gpu, instance)) : [gpu],
  );
  const processes = apps.flatMap(({ uuid, ...app }) =>
    placesOf(uuid, app.pid, { rows, instances }).map(({ index, isSure }) => ({
      ...app,
      gpu: index,
      memory: isSure ? app.memory : null,
    })),
  );
  return { gpus, processes };
}

/**
 * @param list What `nvidia-smi -L` prints. @param report What `nvidia-smi -q -x` prints; what cannot be read from it is
 * null, for it is the list that says what there is.
 */
export function parseInstances(list: string, report: string): Instance[] {
  const reports = new Map(blocks(report, 'gpu').map((gpu) => [textOf(gpu, 'uuid'), gpu]));
  const found: Instance[] = [];
  let gpu = { index: 0, report: '' };
  for (const line of list.split('\n')) {
    const [, index, gpuUuid] = /^GPU (\d+):.*\(UUID: (\S+)\)/.exec(line) ?? [];
    if (index !== undefined) gpu = { index: Number(index), report: reports.get(gpuUuid!) ?? '' };
    const [, profile, number, uuid] = /^\s+MIG (\S+)\s+Device\s+(\d+): \(UUID: (\S+)\)/.exec(line) ?? [];
    if (uuid === undefined) continue;
    const which = { parent: gpu.index, number: Number(number), uuid, profile: profile! };
    found.push({ ...which, ...reportOf(gpu.report, number!) });
  }
  return found;
}

function gpuOf(gpu: Gpu, { parent, number, uuid, profile, memoryTotal, memoryUsed }: Instance): Gpu {
  const name = `${gpu.name} MIG ${profile}`;
  const own = { index: instanceIndex(parent, number), uuid, name, instanceOf: parent, memoryTotal, memoryUsed };
  return { ...gpu, ...own, utilization: null };
}

type Place = { index: number; isSure: boolean };
type Known = { rows: readonly DriverRow[]; instances: readonly Instance[] };

/** Where a process is. If only the GPU is known, it may be in the way on any of its instances. */
function placesOf(uuid: string, pid: number, { rows, instances }: Known): Place[] {
  const sure = (found: readonly Instance[]) =>
    found.map(({ parent, number }) => ({ index: instanceIndex(parent, number), isSure: found.length === 1 }));
  const row = rows.find((candidate) => candidate.uuid === uuid);
  if (row === undefined) return sure(instances.filter((instance) => instance.uuid === uuid));
  if (!row.isDivided) return [{ index: row.index, isSure: true }];
  const within = instances.filter(({ parent }) => parent === row.index);
  const onIt = within.filter(({ processes }) => processes.includes(pid));
  return onIt.length > 0 ? sure(onIt) : sure(within).map((place) => ({ ...place, isSure: false }));
}

function reportOf(gpu: string, number: string): Pick<Instance, 'memoryTotal' | 'memoryUsed' | 'processes'> {
  const device = blocks(gpu, 'mig_device').find((block) => textOf(block, 'index') === number) ?? '';
  const memory = blocks(device, 'fb_memory_usage')[0] ?? '';
  const place = placeOf(device);
  const onIt = blocks(gpu, 'process_info').filter((process) => place !== null && placeOf(process) === place);
  return {
    memoryTotal: mebibytes(textOf(memory, 'total')),
    memoryUsed: mebibytes(textOf(memory, 'used')),
    processes: onIt.map((process) => Number(textOf(process, 'pid'))),
  };
}

/** An instance is identified by two numbers, which are not its index. */
function placeOf(block: string): string | null {
  const gpuInstance = textOf(block, 'gpu_instance_id');
  return gpuInstance === null ? null : `${gpuInstance}/${textOf(block, 'compute_instance_id')}`;
}

/** What is between the tags. The report never nests an element in one of the same name, except `gpu`, which has an id. */
function blocks(xml: string, tag: string): string[] {
  return [...xml.matchAll(new RegExp(`<${tag}(?: id="[^"]*")?>(.*?)</${tag}>`, 'gs'))].map(([, inner]) => inner!);
}

function textOf(xml: string, tag: string): string | null {
  return new RegExp(`<${tag}>\\s*([^<]*?)\\s*</${tag}>`).exec(xml)?.[1] ?? null;
}

function mebibytes(text: string | null): number | null {
  const amount = /^(\d+) MiB$/.exec(text ?? '')?.[1];
  return amount === undefined ? null : Number(amount);
}
