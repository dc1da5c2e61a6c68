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
  // The last field, as it may contain a comma.
  'name',
] as const;
const processFields = ['gpu_uuid', 'pid', 'used_gpu_memory', 'process_name'] as const;

/** Exit code of nvidia-smi when only a checksum of a GPU's settings is wrong: the output is complete. */
const INFO_ROM_CORRUPTED = 14;

/** How nvidia-smi is called: environment and time limit. */
export type Asking = { environment: Readonly<NodeJS.ProcessEnv>; patienceMs: number };

/** The GPUs and their processes by `nvidia-smi`. Two calls, 5–100 ms each; two more if a GPU is divided, several if one is lost. */
export async function readNvidia(asking: Asking): Promise<GpuReading> {
  const reading = await readTogether(asking);
  if (reading.kind !== 'unknown' || !ofLostGpu.test(reading.reason)) return reading;
  return (await readOthers(asking)) ?? reading;
}

/** What nvidia-smi says where it cannot reach one GPU, for which it then fails as a whole. */
const ofLostGpu = /Unable to determine the device handle|\bGPU is lost\b|fallen off the bus/;
/** GPUs that are asked for by index where the driver does not list them. */
const MOST_UNLISTED = 16;

/** The GPUs beside those that are lost, by what is listed, and by asking each by itself. Null: none answers. */
async function readOthers(asking: Asking): Promise<GpuReading | null> {
  const { stdout: list } = await askProgram({ program: 'nvidia-smi', args: ['-L'], ...asking });
  const listed = [...list.matchAll(/^GPU (\d+):/gm)].map(([, index]) => Number(index));
  const candidates = listed.length > 0 ? listed : Array.from({ length: MOST_UNLISTED }, (_, index) => index);
  const alone = await Promise.all(candidates.map((index) => readTogether(asking, [index])));
  const answering = candidates.filter((_, place) => alone[place]!.kind === 'gpus');
  const reading = answering.length === 0 ? null : await readTogether(asking, answering);
  if (reading?.kind !== 'gpus') return null;
  const failed = alone.flatMap((each, place) =>
    each.kind === 'unknown' ? [{ index: candidates[place]!, ...each }] : [],
  );
  const mute = failed.filter(({ reason }) => ofLostGpu.test(reason)).map(({ index }) => index);
  const words =
    list.split('\n').find((line) => ofLostGpu.test(line)) ?? failed[0]?.reason ?? 'nvidia-smi does not list it';
  const unlisted =
    listed.length === 0 ? [] : gaps(listed, list.split('\n').filter((line) => ofLostGpu.test(line)).length);
  return { ...reading, lost: { indexes: [...mute, ...unlisted].sort((a, b) => a - b), words: words.trim() } };
}

/** Indices that a list leaves out: those between others, and after the last one as many as are missing. */
function gaps(listed: readonly number[], missing: number): number[] {
  const most = Math.max(...listed);
  const between = Array.from({ length: most }, (_, index) => index).filter((index) => !listed.includes(index));
  const after = Math.max(0, missing - between.length);
  return [...between, ...Array.from({ length: after }, (_, place) => most + 1 + place)];
}

/** @param indexes The GPUs to ask for; absent: all. */
async function readTogether(asking: Asking, indexes?: readonly number[]): Promise<GpuReading> {
  try {
    const which = indexes === undefined ? [] : [`--id=${indexes.join(',')}`];
    const ask = (...args: string[]) => answerOf(asking, args[0] === '-L' ? args : [...args, ...which]);
    // Processes are read first, so that memory that grows meanwhile does not seem to belong to none.
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

/** nvidia-smi did not answer, or with something else. */
class Sick extends Error {}

/** The table of GPUs. Drivers without MIG do not know that field, and are asked for another one in its place. */
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
 * Parses one row per GPU, without header and units, in PCI bus order. Throws if any line is malformed, as half a list must not pass
 * for the whole.
 */
export function parseRows(csv: string): DriverRow[] {
  const lines = csv.split('\n').map((line) => line.trim());
  const rows = lines.filter((line) => line !== '' && !isRemark(line)).map(rowOf);
  return rows.sort((a, b) => a.index - b.index);
}

/** Parses one row per process and GPU. A line without a pid (`[Not Supported]`, no processes) is skipped. */
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

/**
 * The number in a cell; null for `[N/A]`, `[Not Supported]`, `[Unknown Error]`, `ERR!`: the driver does not know it, which is no
 * error of the reading.
 */
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
 * An instance of a divided GPU (MIG). `nvidia-smi -L` names instances; their memory and processes are only in the full report,
 * `nvidia-smi -q -x`.
 */
type Instance = {
  /** Indices of the GPU, and of the instance within it. */
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

/** Replaces divided GPUs by their instances, and assigns the processes to them. */
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
 * @param list The output of `nvidia-smi -L`.
 * @param report The output of `nvidia-smi -q -x`; missing values are null, as the list decides which instances exist.
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

/** The places of a process. If only the GPU is known, it may be on any of its instances. */
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

/** The two numbers that identify an instance, neither of which is its index. */
function placeOf(block: string): string | null {
  const gpuInstance = textOf(block, 'gpu_instance_id');
  return gpuInstance === null ? null : `${gpuInstance}/${textOf(block, 'compute_instance_id')}`;
}

/** The contents between the tags. The report never nests an element in one of the same name, except `gpu`, which has an id. */
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
