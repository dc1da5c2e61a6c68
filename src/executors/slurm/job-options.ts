import { basename, dirname, join } from 'node:path';
import { runFiles } from '../../contract/files.js';
import { isOnPath } from '../../processes/program-file.js';
import type { LaunchSpec, Packing } from '../executor.js';
import type { PackText } from './packs/pack-files.js';
import { noSuchNode, SlurmCalls } from './slurm-calls.js';

/** Seconds added to what a run may take, so that the supervisor ends it before Slurm does. */
const SPARE = 60;

/** What a job is asked for on behalf of a run. */
export type Demand = Pick<LaunchSpec, 'cwd' | 'needs' | 'slurm'>;

/** @param gpusOfAuto What a run gets that takes a GPU where there is one. */
function gpusFor({ gpus }: Demand['needs'], gpusOfAuto: number): number {
  return gpus === 'auto' ? gpusOfAuto : gpus;
}

/** The words for `sbatch` that say what jobs may have, and where: equal for runs that may be submitted together. */
export function jobOptions({ cwd, needs, slurm = {} }: Demand, gpusOfAuto: number): string[] {
  const gpus = gpusFor(needs, gpusOfAuto);
  const seconds = needs.seconds == null ? null : needs.seconds + SPARE;
  const time = slurm.time ?? seconds;
  return [
    ...['--export=ALL', '--open-mode=append', '--no-requeue', '-D', cwd],
    ...['--nodes=1', '--ntasks=1', `--cpus-per-task=${needs.cpus}`],
    ...(gpus === 0 ? [] : [`--gres=gpu:${gpus}`]),
    ...(time === null ? [] : [`--time=${clock(time)}`]),
    ...(['partition', 'account', 'qos', 'constraint'] as const).flatMap((name) => {
      const value = slurm[name];
      return value === undefined ? [] : [`--${name}=${value}`];
    }),
    ...(slurm.extra ?? []),
  ];
}

/** Where Slurm itself writes what it has to say of a job: the run's log. In names of files it takes `%j` for the job's number. */
export function logOption({ directory }: LaunchSpec): string[] {
  return ['-o', join(directory, runFiles.log).replaceAll('%', '%%')];
}

/** What people see in `squeue`. Slurm makes no file of a name with a slash. */
export function jobName({ directory, attempt }: LaunchSpec): string {
  return `${basename(dirname(directory))}:${basename(directory)}.${attempt}`;
}

/** `1-02:03:04` */
function clock(seconds: number): string {
  const whole = Math.ceil(seconds);
  const part = (unit: number, of: number) => String(Math.floor(whole / unit) % of).padStart(2, '0');
  return `${Math.floor(whole / 86_400)}-${part(3600, 24)}:${part(60, 60)}:${part(1, 60)}`;
}

/** Runs that end within so many seconds, their grace included, are not worth a job each: Slurm takes half a second for one. */
const SHORT_S = 660;
/** Workers for equal runs, unless a person says how many. */
const WORKERS = 8;
/** The time of a worker for runs that say how long they take: so many of them, and at least an hour, seconds. */
const RUNS_OF_A_WORKER = 10;
const HOUR_S = 3600;

/** Whether such runs are taken by workers, one after the other, rather than being jobs. */
export function isPacked({ needs, slurm }: Pick<Demand, 'needs' | 'slurm'>): boolean {
  const mode = slurm?.mode ?? 'auto';
  if (mode !== 'auto') return mode === 'packs';
  return (needs.perGpu ?? 1) > 1 || (needs.seconds ?? Infinity) <= SHORT_S;
}

/** How such runs go in packs; null: each is a job. */
export function packingOf(demand: Pick<Demand, 'needs' | 'slurm'>): Packing | null {
  if (!isPacked(demand)) return null;
  const { needs, slurm } = demand;
  const short = 'each ends within some ten minutes';
  const why = (needs.perGpu ?? 1) > 1 ? `${needs.perGpu} share a GPU` : short;
  return { workers: workersFor(demand), why: slurm?.mode === 'packs' ? null : why };
}

function workersFor({ slurm }: Pick<Demand, 'slurm'>): number {
  return slurm?.workers ?? WORKERS;
}

/** What one worker for such runs asks of Slurm: room for those that may share its GPU. */
function workerOptions({ needs, slurm = {} }: Demand, gpusOfAuto: number): string[] {
  const seconds = needs.seconds == null ? undefined : Math.max(HOUR_S, RUNS_OF_A_WORKER * needs.seconds);
  const worker = {
    cwd: '/',
    needs: { ...needs, cpus: needs.cpus * roomOf(needs, gpusOfAuto), seconds: null },
    slurm: { ...slurm, time: slurm.time ?? seconds },
  };
  // A lost worker is replaced: what one had begun must not be begun again by the same.
  return [...jobOptions(worker, gpusOfAuto), '--no-requeue'];
}

/** Runs that a worker has at a time. */
function roomOf(needs: Demand['needs'], gpusOfAuto: number): number {
  return gpusFor(needs, gpusOfAuto) === 1 ? (needs.perGpu ?? 1) : 1;
}

/** The pack of a run, with its environment as what the runs of the pack have in common. */
export function packTextFor(spec: LaunchSpec, gpusOfAuto: number): PackText {
  const { needs, environment } = spec;
  const room = roomOf(needs, gpusOfAuto);
  return { options: workerOptions(spec, gpusOfAuto), room, workers: workersFor(spec), environment };
}

/** Runs with an equal one may be taken by the same workers. */
export function kindOf({ environment, ...text }: PackText): string {
  return JSON.stringify([text, Object.keys(environment).sort()]);
}

/** Why nothing can be typed into a run on Slurm, in words that follow its name. */
export const unreachableInput = 'cannot be typed into: the standard input of a job is on the node that has it';

/** Why Slurm would refuse a job that asks for that, in words; null: it would not, or does not answer now. Submits nothing. */
export async function jobProblem(
  demand: Demand,
  environment: Readonly<Record<string, string>>,
): Promise<string | null> {
  if (!isOnPath('sbatch', environment)) return 'Slurm is not here: there is no `sbatch` on the PATH.';
  const calls = new SlurmCalls(environment);
  const { gpus } = await calls.limits();
  const options = isPacked(demand) ? workerOptions(demand, gpus) : jobOptions(demand, gpus);
  const tested = await calls.submit(['--test-only', ...options], '#!/bin/sh\n', environment);
  if (tested.kind !== 'refused' || tested.transient) return null;
  const wanted = { cpus: demand.needs.cpus, gpus: gpusFor(demand.needs, gpus) };
  if (noSuchNode.test(tested.reason) && (await calls.hasUnavailableNodeFor(wanted))) return null;
  const asked = options.filter((word) => /^--(gres|cpus|time|partition|account|qos|constraint)/.test(word));
  const extra = demand.slurm?.extra ?? [];
  return `${tested.reason} (asked for: ${[...asked, ...extra].join(' ')})`;
}
