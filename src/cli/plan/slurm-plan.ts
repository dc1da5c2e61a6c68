import { groupBy } from '../../base/group-by.js';
import type { Packing } from '../../executors/executor.js';
import { packingBy } from '../../executors/registry.js';
import type { Plan, PlannedRun } from '../../spec/planned-run.js';
import { demandOf } from '../../launch/demand.js';
import { counted } from '../../text/numbers.js';

type Environment = Readonly<Record<string, string>>;

/**
 * Jobs of Slurm, each as what it is: `slurm job`, which is one run, or `slurm worker`, which takes many.
 *
 * @param most Jobs at a time. @param perGpu Runs that may share a GPU, where the command line says so.
 */
export function slurmSlots(runs: readonly PlannedRun[], most: number, perGpu: number | undefined): string[] {
  const slots = alike(runs, perGpu).flatMap(({ count, packing }) =>
    packing === null
      ? Array.from({ length: count }, () => 'slurm job')
      : Array.from({ length: Math.min(packing.workers, count) }, () => 'slurm worker'),
  );
  return slots.slice(0, most);
}

/** Which runs workers take, and why where nobody asked for that; null: none. */
export function packNote(runs: readonly PlannedRun[], perGpu: number | undefined): string | null {
  const packed = alike(runs, perGpu).filter(({ packing }) => packing !== null);
  if (packed.length === 0) return null;
  const total = packed.reduce((sum, { count }) => sum + count, 0);
  const whys = [...new Set(packed.flatMap(({ packing }) => packing?.why ?? []))].join(' and ');
  const why = whys === '' ? '' : `, as ${whys}; \`slurm: { mode: jobs }\` makes each a job of its own`;
  return `${counted(total, 'run')} in packs: jobs of Slurm that take one after the other${why}`;
}

/**
 * Where runs are started inside an allocation (`salloc`, a notebook's job): here, on what it has. Null: not in one, or they are
 * submitted.
 */
export function allocationNote({ executor }: Pick<Plan, 'executor'>, environment: Environment): string | null {
  const job = environment['SLURM_JOB_ID'];
  if (job === undefined || (executor ?? 'local') !== 'local') return null;
  const node = environment['SLURMD_NODENAME'];
  if (node === undefined) {
    return `inside the allocation of Slurm job ${job}, but this shell is not on its node: \`srun --pty --overlap memrl-tui …\` starts the runs there`;
  }
  const gpus = environment['CUDA_VISIBLE_DEVICES'] ?? environment['ROCR_VISIBLE_DEVICES'] ?? '';
  const has = gpus === '' ? 'which has no GPU' : `on ${gpus.includes(',') ? 'its GPUs' : 'its GPU'} ${gpus}`;
  return `inside Slurm job ${job}: runs are started here on ${node}, ${has}, and end with the job`;
}

/** Runs that ask for the same. */
function alike(runs: readonly PlannedRun[], perGpu: number | undefined): { count: number; packing: Packing | null }[] {
  const groups = groupBy(runs, (run) => JSON.stringify(demandOf(run, perGpu)));
  return [...groups.values()].map((same) => ({
    count: same.length,
    packing: packingBy('slurm', demandOf(same[0]!, perGpu)),
  }));
}
