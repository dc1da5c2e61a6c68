import * as z from 'zod';
import { isOnPath } from '../processes/program-file.js';
import { askProgram } from '../processes/short-call.js';
import type { Gpu, GpuProcess, GpuReading } from './gpu.js';
import { type Asking, readNvidia } from './nvidia-smi.js';
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

const questions = ['--showuniqueid', '--showproductname', '--showbus', '--showmeminfo', 'vram', '--showuse'];
const MEBIBYTE = 1024 * 1024;

/** All values are texts; the set of keys differs between versions. */
const Card = z.record(z.string(), z.coerce.string());
const Cards = z.record(z.string(), Card);

/** AMD's GPUs and their processes by `rocm-smi`. Three calls of about 200 ms (it is a Python program). */
async function readRocm(asking: Asking): Promise<GpuReading> {
  const cards = await ask(asking, [...questions, '--showtemp', '--showpower', '--json']);
  const names = await ask(asking, ['--showpids', '--json']);
  const places = await ask(asking, ['--showpidgpus']);
  const failed = [cards, names, places].find(({ kind }) => kind === 'sick');
  if (failed?.kind === 'sick') return { kind: 'unknown', reason: failed.reason };
  const gpus = parseCards(textOf(cards));
  if (gpus === null) return { kind: 'unknown', reason: 'rocm-smi printed something other than its GPUs' };
  return { kind: 'gpus', gpus, processes: parseProcesses(textOf(names), textOf(places)) };
}

/** The GPUs in a JSON answer, by index; null: it is no such answer. */
export function parseCards(json: string): Gpu[] | null {
  const cards = Cards.safeParse(parsed(json));
  if (!cards.success) return null;
  return Object.entries(cards.data)
    .flatMap(([key, card]) => {
      const index = /^card(\d+)$/.exec(key)?.[1];
      return index === undefined ? [] : [gpuOf(Number(index), card)];
    })
    .sort((a, b) => a.index - b.index);
}

/**
 * @param json Answer to `--showpids --json`: name and memory by pid.
 * @param text Answer to `--showpidgpus`: GPUs by pid. The memory of a process on several GPUs is unknown for each.
 */
export function parseProcesses(json: string, text: string): GpuProcess[] {
  const system = Cards.safeParse(parsed(json)).data?.['system'] ?? {};
  return [...gpusByPid(text)].flatMap(([pid, gpus]) => {
    // `python3, 1, 1234567, 0, 0`: name, number of GPUs, bytes, …
    const [name, , bytes] = (system[`PID${pid}`] ?? '').split(',').map((part) => part.trim());
    const memory = gpus.length === 1 && bytes !== undefined ? mebibytes(bytes) : null;
    return gpus.map((gpu) => ({ gpu, pid, memory, name: name === '' || name === 'UNKNOWN' ? null : (name ?? null) }));
  });
}

/** Parses `PID 123 is using 2 DRM device(s):` and, on the next line, `0 1`. */
function gpusByPid(text: string): Map<number, number[]> {
  const found = text.matchAll(/^PID (\d{1,10}) is using [1-9]\d* DRM device\(s\):?\s*\n([\d ]+)$/gm);
  return new Map([...found].map(([, pid, gpus]) => [Number(pid), gpus!.trim().split(/\s+/).map(Number)]));
}

type Reply = { kind: 'said'; text: string } | { kind: 'sick'; reason: string };

async function ask({ environment, patienceMs }: Asking, args: readonly string[]): Promise<Reply> {
  const answer = await askProgram({ program: 'rocm-smi', args, environment, patienceMs });
  if (answer.kind === 'answered') return { kind: 'said', text: answer.stdout };
  const late = `rocm-smi did not answer within ${patienceMs / 1000} s`;
  return { kind: 'sick', reason: answer.kind === 'hung' ? late : `rocm-smi failed: ${answer.reason}` };
}

function textOf(reply: Reply): string {
  return reply.kind === 'said' ? reply.text : '';
}

/** Parses JSON that is preceded by warnings on the same stream. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text.slice(Math.max(0, text.indexOf('{'))));
  } catch {
    return null;
  }
}

function gpuOf(index: number, card: Readonly<Record<string, string>>): Gpu {
  const bus = card['PCI Bus'] ?? null;
  return {
    ...{ index, bus, vendor: 'amd', instanceOf: null, computeMode: null },
    uuid: card['Unique ID'] && card['Unique ID'] !== 'N/A' ? card['Unique ID'] : `AMD-${bus ?? index}`,
    name: card['Card Series'] ?? card['Card series'] ?? card['Device Name'] ?? 'AMD GPU',
    memoryTotal: mebibytes(card['VRAM Total Memory (B)']),
    memoryUsed: mebibytes(card['VRAM Total Used Memory (B)']),
    utilization: numberOf(card['GPU use (%)']),
    temperature: numberOf(card['Temperature (Sensor edge) (C)'] ?? card['Temperature (Sensor junction) (C)']),
    power: numberOf(card['Average Graphics Package Power (W)'] ?? card['Current Socket Graphics Package Power (W)']),
  };
}

function numberOf(text: string | undefined): number | null {
  const value = Number(text);
  return text === undefined || text === '' || Number.isNaN(value) ? null : value;
}

function mebibytes(bytes: string | undefined): number | null {
  const value = numberOf(bytes);
  return value === null ? null : Math.round(value / MEBIBYTE);
}
