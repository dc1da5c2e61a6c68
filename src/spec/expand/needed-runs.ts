import { groupBy } from '../../base/group-by.js';
import { type Parameters, parameterOf } from '../../base/scalar.js';
import type { Block } from '../file/sweep-file.js';
import type { PlannedRun } from '../planned-run.js';
import { PointError } from './grid.js';
import { valueText } from './value-text.js';

/**
 * Adds to each run the runs that it needs: from the groups that its group needs by parameters, the runs with the same values, and
 * the run that it comes after. A parameter that neither run passes counts as equal.
 *
 * @param among The runs of the needed groups; absent: `runs` contains them.
 * @throws {PointError} Where there is no such run.
 */
export function withNeededRuns(
  blocks: readonly Block[],
  runs: readonly PlannedRun[],
  among: readonly PlannedRun[] = runs,
): PlannedRun[] {
  const finders = new Map(blocks.map((block) => [block.group, findersOf(block, among)]));
  return runs.map((run) => {
    const found = finders.get(run.group)!.flatMap((find) => find(run));
    return found.length === 0 ? run : { ...run, neededRuns: [...new Set([...(run.neededRuns ?? []), ...found])] };
  });
}

/** The runs without those of prerequisites that no other run of them needs, directly or not. */
export function withoutUnneeded(runs: readonly PlannedRun[], prerequisites: readonly string[]): PlannedRun[] {
  const named = new Map(runs.map((run) => [run.name, run]));
  const ofGroup = groupBy(runs, ({ group }) => group);
  const open = runs.filter(({ group }) => !prerequisites.includes(group));
  const needed = new Set<PlannedRun>();
  for (let run = open.pop(); run !== undefined; run = open.pop()) {
    if (needed.has(run)) continue;
    needed.add(run);
    for (const name of run.neededRuns ?? []) open.push(...(named.has(name) ? [named.get(name)!] : []));
    for (const group of run.needs) {
      open.push(...(ofGroup.get(group) ?? []));
      ofGroup.delete(group);
    }
  }
  return runs.filter((run) => needed.has(run));
}

type Find = (run: PlannedRun) => readonly string[];

function findersOf({ group, keys, needs }: Block, runs: readonly PlannedRun[]): Find[] {
  const keyed = needs.filter(({ by }) => by.length > 0);
  return keyed.map(({ group: needed, by, at }) => {
    const others = groupBy(
      runs.filter((run) => run.group === needed),
      ({ parameters }) => keyOf(parameters, by),
    );
    return ({ name, parameters }) => {
      const same = others.get(keyOf(parameters, by));
      if (same !== undefined) return same.map((run) => run.name);
      const problem = `\`${name}\` needs a run of \`${needed}\` with ${valuesOf(parameters, by)}, and there is none.`;
      const fix = `Give group \`${needed}\` such a run, or leave the point out of group \`${group}\` with \`when\`.`;
      throw new PointError(problem, [...keys, 'needs', ...at], { start: 0, end: 1 }, fix);
    };
  });
}

function keyOf(parameters: Parameters, by: readonly string[]): string {
  return JSON.stringify(by.map((name) => [parameterOf(parameters, name)].filter((value) => value !== undefined)));
}

function valuesOf(parameters: Parameters, by: readonly string[]): string {
  const values = by.map((name) => {
    const value = parameterOf(parameters, name);
    return value === undefined ? `no ${name}` : `${name}=${valueText(value)}`;
  });
  return values.join(' and ');
}
