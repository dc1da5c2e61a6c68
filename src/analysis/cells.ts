import { grouped } from '../base/group-by.js';
import { parameterOf } from '../base/scalar.js';
import { parametersText } from '../text/parameters-text.js';
import type { ReportedRun } from './analysed-run.js';
import { namesRepetition } from './forecast/durations.js';
import type { Origin } from './study/metric-intervals.js';

/** Runs of one group that differ in nothing but their seed. `varies`: the parameters that distinguish this cell from others. */
export type Cell = {
  group: string;
  /** The subgroup of this cell; null: its runs have none, or different ones. */
  title: string | null;
  varies: Record<string, unknown>;
  runs: ReportedRun[];
};

/** Groups the runs by group and all parameters but seeds, in the order of the runs. */
export function cellsOf(runs: readonly ReportedRun[]): Cell[] {
  return grouped(runs, ({ group }) => group).flatMap((members) => {
    const keys = varyingKeys(members);
    const variesOf = (run: ReportedRun) =>
      Object.fromEntries(keys.map((key) => [key, parameterOf(run.parameters, key)]));
    const cells = grouped(members, (run) => JSON.stringify(variesOf(run)));
    const titles = titlesOf(cells);
    return cells.map((cell, index) => ({
      group: cell[0]!.group,
      title: titles[index]!,
      varies: variesOf(cell[0]!),
      runs: cell,
    }));
  });
}

/** The name of a cell: its subgroup, else the parameters that distinguish it; empty for the only cell. */
export function settingText({ title, varies }: Pick<Cell, 'title' | 'varies'>): string {
  return title ?? parametersText(varies);
}

/** The cells' subgroups if each cell has one of its own: otherwise a name would be that of several cells, or of a part of one. */
function titlesOf(cells: readonly (readonly ReportedRun[])[]): (string | null)[] {
  const said = cells.map((cell) => new Set(cell.map(({ subgroup = null }) => subgroup)));
  const names = said.map((all) => (all.size === 1 ? [...all][0]! : null));
  const isTold = !names.includes(null) && new Set(names).size === names.length;
  return isTold ? names : names.map(() => null);
}

function varyingKeys(runs: readonly ReportedRun[]): string[] {
  const keys = [...new Set(runs.flatMap(({ parameters }) => Object.keys(parameters)))];
  // A model of its own for each seed is a part of the repetition, too.
  const origins = pathKeys(runs).filter((key) => followsSeeds(runs, key));
  return keys.filter((key) => !namesRepetition(key) && !origins.includes(key) && hasSeveralValues(runs, key));
}

function hasSeveralValues(runs: readonly ReportedRun[], key: string): boolean {
  return new Set(runs.map(({ parameters }) => JSON.stringify(parameterOf(parameters, key)))).size > 1;
}

/** The parameters of a run, and its directory in that of its sweep. */
export type PlacedRun = Pick<ReportedRun, 'parameters' | 'directory'>;

/** Where runs come from: their seeds, and the run of the sweep whose files each started from, such as a pretrained model. */
export function originsOf(runs: readonly PlacedRun[]): Origin[] {
  const base = baseKey(runs);
  return runs.map(({ parameters }) => {
    const seeds = Object.entries(parameters).filter(([key]) => isSeed(key));
    return {
      pair: seeds.length === 0 ? null : JSON.stringify(seeds),
      base: base === null ? '' : JSON.stringify(parameters[base]),
    };
  });
}

const isSeed = (key: string) => /(^|[._-])(seed|secret|random_state)$/i.test(key);

/** Parameters whose values are files of other runs of the sweep: paths, or as the sweep file writes them. */
export function pathKeys(runs: readonly PlacedRun[]): string[] {
  const keys = [...new Set(runs.flatMap(({ parameters }) => Object.keys(parameters)))];
  return keys.filter((key) => runs.every((run) => isOfSweep(run, run.parameters[key])));
}

function isOfSweep({ directory }: PlacedRun, value: unknown): boolean {
  const places = [directory.slice(0, directory.lastIndexOf('/') + 1), '${sweep_dir}/'];
  return typeof value === 'string' && places.some((place) => value.startsWith(place));
}

/** Of several the one with the fewest different values: runs have data of their own more often than a model of their own. */
function baseKey(runs: readonly PlacedRun[]): string | null {
  const different = (key: string) => new Set(runs.map(({ parameters }) => parameters[key])).size;
  return pathKeys(runs).toSorted((a, b) => different(a) - different(b))[0] ?? null;
}

/** Whether runs of the same seeds all have the same value of a parameter. */
function followsSeeds(runs: readonly PlacedRun[], key: string): boolean {
  const values = new Map<string, unknown>();
  return originsOf(runs).every(({ pair }, index) => {
    const value = runs[index]!.parameters[key];
    if (pair === null || (values.has(pair) && values.get(pair) !== value)) return false;
    values.set(pair, value);
    return true;
  });
}
