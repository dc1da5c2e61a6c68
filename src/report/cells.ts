import { parameterOf } from '../base/scalar.js';
import { grouped } from '../base/grouped.js';
import type { ReportedRun } from '../analysis/analysed-run.js';

/** Runs of one group that differ in nothing but their seed. `varies`: the parameters that tell this cell from others. */
export type Cell = { group: string; varies: Record<string, unknown>; runs: ReportedRun[] };

/** Parameters that name a repetition or a place, and are no condition of the experiment. */
const repetition = /(^|[._-])(seed|secret|random_state|run_id|name|path|dir|directory|file)$/i;

/** The runs by group and by all parameters but seeds, in the order of the runs. */
export function cellsOf(runs: readonly ReportedRun[]): Cell[] {
  return grouped(runs, ({ group }) => group).flatMap((members) => {
    const keys = varyingKeys(members);
    const variesOf = (run: ReportedRun) =>
      Object.fromEntries(keys.map((key) => [key, parameterOf(run.parameters, key)]));
    return grouped(members, (run) => JSON.stringify(variesOf(run))).map((cell) => ({
      group: cell[0]!.group,
      varies: variesOf(cell[0]!),
      runs: cell,
    }));
  });
}

function varyingKeys(runs: readonly ReportedRun[]): string[] {
  const keys = [...new Set(runs.flatMap(({ parameters }) => Object.keys(parameters)))];
  return keys.filter((key) => !repetition.test(key) && hasSeveralValues(runs, key));
}

function hasSeveralValues(runs: readonly ReportedRun[], key: string): boolean {
  return new Set(runs.map(({ parameters }) => JSON.stringify(parameterOf(parameters, key)))).size > 1;
}
