import type { LaunchSpec, Packing } from '../../executor.js';
import { type Demand, gpusFor, jobOptions } from '../job-options.js';
import type { PackText } from './pack-files.js';

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
export function workerOptions({ needs, slurm = {} }: Demand, gpusOfAuto: number): string[] {
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
