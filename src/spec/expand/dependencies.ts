/** How the groups of a sweep depend on each other's runs: points that are made of other runs, and the runs that a run needs. */
import { groupBy } from '../../base/group-by.js';
import { parameterOf, type Parameters } from '../../base/scalar.js';
import { type Block, isOwn } from '../file/sweep-file.js';
import type { PlannedRun } from '../planned-run.js';
import { type CompiledBlock, dependencyOrder, type Step } from './compile-block.js';
import { exists, gridSize, inOrder, type Point, PointError, take, walk } from './grid.js';
import type { NamedPoint } from './plan-run.js';
import { valueText } from './value-text.js';

/** A group and its points, from which points of other groups are made. */
type Source = { readonly group: CompiledBlock; readonly points: readonly NamedPoint[] };

/** These blocks and their source groups, direct or not; in file order. */
export function withSources(all: readonly Block[], asked: readonly Block[]): Block[] {
  const wanted = new Set(asked.map(({ group }) => group));
  // A source group comes before the group that is made of it.
  for (const { group, each } of [...all].reverse()) {
    if (wanted.has(group)) each?.groups.forEach(({ name }) => wanted.add(name));
  }
  return all.filter(({ group }) => wanted.has(group));
}

/** The source groups of a block, among these. */
export function sourcesOf<Group extends { readonly group: CompiledBlock }>(
  { each }: Block,
  groups: readonly Group[],
): Group[] {
  const names = new Set(each?.groups.map(({ name }) => name));
  return groups.filter(({ group }) => names.has(group.block.group));
}

/** Upper bounds of the number of points of each group, in file order, before the points of source groups are known. */
export function sizesOf(compiled: readonly CompiledBlock[]): number[] {
  const sized: { group: CompiledBlock; size: number }[] = [];
  for (const group of compiled) {
    const sources = sourcesOf(group.block, sized);
    const of = group.block.each === null ? 1 : sources.reduce((sum, { size }) => sum + size, 0);
    sized.push({ group, size: of * gridSize(group) });
  }
  return sized.map(({ size }) => size);
}

/**
 * The points of a group that is made of the runs of others: for each run its parameters, with those of this group in their place.
 * Equal points are merged; a point that a source group with the same command has itself is left out, as it would be the same
 * experiment. With `after_each` none are merged, as each comes after its own run.
 *
 * @param sources The source groups, in file order.
 * @throws {PointError} When an expression fails at a point.
 */
export function pointsOfRuns(compiled: CompiledBlock, sources: readonly Source[]): Point[] {
  if (compiled.block.each?.after === true) return pointsAfter(compiled, sources);
  const alike = sources.filter(({ group }) => experimentOf(group) === experimentOf(compiled));
  const seen = new Set(alike.flatMap(({ points }) => points.map(keyOf)));
  const make = maker(compiled);
  return sources
    .flatMap(({ group, points }) => points.flatMap((point) => make(point, point.steps ?? stepsOf(group))))
    .filter((point) => {
      const key = keyOf(point);
      if (seen.has(key)) return false;
      seen.add(key);
      return true;
    });
}

function pointsAfter(compiled: CompiledBlock, sources: readonly Source[]): Point[] {
  const make = maker(compiled);
  return sources.flatMap(({ group, points }) =>
    points.flatMap((point) => {
      const after = { group: group.block.group, name: point.name };
      return make(point, point.steps ?? stepsOf(group)).map((made) => ({ ...made, after }));
    }),
  );
}

/** The steps that are computed at every point of a group, in any of its cases. One list for all its points. */
function stepsOf({ block: { parameters }, variants: [variant] }: CompiledBlock): readonly Step[] {
  return variant!.steps.filter(({ name, rule }) => parameters.get(name) === rule);
}

/**
 * Returns a function that makes points of this group from one of another. @param steps The steps of that point; the points of one
 * group share them.
 */
function maker(compiled: CompiledBlock): (point: Point, steps: readonly Step[]) => Point[] {
  const { block, axes, variants } = compiled;
  const variant = variants[0]!;
  const own = axes.filter(({ name }) => isOwn(block, name));
  const isChanged = [...block.parameters.keys()].some((name) => isOwn(block, name));
  const all = new Map<readonly Step[], readonly Step[]>();
  return ({ parameters, variables }, before) => {
    if (!all.has(before)) all.set(before, withOwn(compiled, before));
    const steps = all.get(before)!;
    const made: Point[] = [];
    const setting = { variables: { ...variables }, values: { ...parameters } };
    walk(own, setting, () => {
      const values = { ...setting.values };
      const point = { variables: { ...setting.variables }, steps };
      // Steps are recomputed only if the group changes a parameter. A parameter that was not passed stays so, whatever its `when`
      // would say now.
      const again = steps.filter(({ name }) => isOwn(block, name) || (isChanged && Object.hasOwn(parameters, name)));
      for (const step of again) take(step, point.variables, values);
      const whole = { ...point, parameters: inOrder(variant, values) };
      if (exists(compiled, whole)) made.push(whole);
      return true;
    });
    return made;
  };
}

/** The earlier steps with those of the group in their place, in an order in which they can be computed. */
function withOwn({ block, variants }: CompiledBlock, before: readonly Step[]): readonly Step[] {
  const kept = before.filter(({ name }) => !isOwn(block, name));
  const steps = new Map([...kept, ...variants[0]!.steps].map((step) => [step.identifier, step]));
  const needs = [...steps].map(([identifier, { when, expr, rule }]) => {
    const names = [...(when?.names ?? []), ...(expr?.names ?? [])];
    // `when` of an axis may depend on the axis's own value.
    return [identifier, names.filter((name) => name !== identifier || rule.kind === 'derived')] as const;
  });
  const order = dependencyOrder(new Map(needs));
  if (order.kind === 'order') return order.names.map((name) => steps.get(name)!);
  const problem = `these parameters are computed from each other: ${order.ring.join(' → ')}.`;
  const keys = block.parameters.get(order.ring.find((name) => isOwn(block, name)) ?? '')?.keys ?? block.keys;
  throw new PointError(problem, keys, { start: 0, end: 1 }, 'Give one of them a value of its own.');
}

/** The parts of a run that matter besides its parameters, as a key. */
function experimentOf({ block: { command, program, env, cwd } }: CompiledBlock): string {
  return JSON.stringify([command.content, program, env.content, cwd?.content ?? null]);
}

function keyOf({ parameters }: Pick<Point, 'parameters'>): string {
  return JSON.stringify(Object.entries(parameters).sort(([left], [right]) => (left < right ? -1 : 1)));
}

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
      ({ parameters }) => keyByNames(parameters, by),
    );
    return ({ name, parameters }) => {
      const same = others.get(keyByNames(parameters, by));
      if (same !== undefined) return same.map((run) => run.name);
      const problem = `\`${name}\` needs a run of \`${needed}\` with ${valuesOf(parameters, by)}, and there is none.`;
      const fix = `Give group \`${needed}\` such a run, or leave the point out of group \`${group}\` with \`when\`.`;
      throw new PointError(problem, [...keys, 'needs', ...at], { start: 0, end: 1 }, fix);
    };
  });
}

function keyByNames(parameters: Parameters, by: readonly string[]): string {
  return JSON.stringify(by.map((name) => [parameterOf(parameters, name)].filter((value) => value !== undefined)));
}

function valuesOf(parameters: Parameters, by: readonly string[]): string {
  const values = by.map((name) => {
    const value = parameterOf(parameters, name);
    return value === undefined ? `no ${name}` : `${name}=${valueText(value)}`;
  });
  return values.join(' and ');
}
