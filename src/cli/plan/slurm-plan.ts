import { groupBy } from '../../base/group-by.js';
import { isPacked, whyPacked, workersFor } from '../../executors/slurm/packs/pack-choice.js';
import type { PlannedRun } from '../../spec/planned-run.js';
import { demandOf } from '../../supervisor/runs/launch-spec.js';
import { counted } from '../../text/numbers.js';

/** What Slurm is asked for on behalf of runs that ask for the same. */
type Alike = { readonly runs: readonly PlannedRun[]; readonly demand: ReturnType<typeof demandOf> };

/**
 * Jobs of Slurm, each as what it is: `slurm job`, which is one run, or `slurm worker`, which takes many.
 *
 * @param most Jobs at a time. @param perGpu Runs that may share a GPU, where the command line says so.
 */
export function slurmSlots(runs: readonly PlannedRun[], most: number, perGpu: number | undefined): string[] {
  const slots = alike(runs, perGpu).flatMap(({ runs: { length }, demand }) =>
    isPacked(demand)
      ? Array.from({ length: Math.min(workersFor(demand), length) }, () => 'slurm worker')
      : Array.from({ length }, () => 'slurm job'),
  );
  return slots.slice(0, most);
}

/** Which runs workers take, and why where nobody asked for that; null: none. */
export function packNote(runs: readonly PlannedRun[], perGpu: number | undefined): string | null {
  const packed = alike(runs, perGpu).filter(({ demand }) => isPacked(demand));
  if (packed.length === 0) return null;
  const count = packed.reduce((sum, { runs: { length } }) => sum + length, 0);
  const chosen = packed.filter(({ demand: { slurm } }) => (slurm?.mode ?? 'auto') === 'auto');
  const whys = [...new Set(chosen.map(({ demand }) => whyPacked(demand)))];
  const why =
    whys.length === 0 ? '' : `, as ${whys.join(' and ')}; \`slurm: { mode: jobs }\` makes each a job of its own`;
  return `${counted(count, 'run')} in packs: jobs of Slurm that take one after the other${why}`;
}

function alike(runs: readonly PlannedRun[], perGpu: number | undefined): Alike[] {
  const groups = groupBy(runs, (run) => JSON.stringify(demandOf(run, perGpu)));
  return [...groups.values()].map((same) => ({ runs: same, demand: demandOf(same[0]!, perGpu) }));
}
