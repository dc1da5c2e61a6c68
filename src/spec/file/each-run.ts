import { writingOf } from '../expand/compile-block.js';
import { didYouMean } from '../../text/nearest.js';
import { type Block, type EachRun, methodFrom, type ParameterRule, parameterNames, unset } from './block.js';
import type { KeyPath } from './diagnostic.js';
import type { Layers } from './layers.js';

/** Keys that define points in another way. */
const otherPoints = ['cases', 'include', 'exclude', 'method', 'run_cap', 'sample_seed'] as const;

/** The `for_each` or `after_each` of a group, before its source groups are resolved. */
export function eachOf({ group, above }: Layers): EachRun | null {
  const key = group.after_each === undefined ? 'for_each' : 'after_each';
  const names = group[key];
  if (names === undefined) return null;
  const groups = names.map((name, index) => ({ name, at: [index] }));
  const others = key === 'after_each' ? ([...otherPoints, 'for_each'] as const) : otherPoints;
  const beside = others.find((other) => group[other] !== undefined) ?? null;
  return { groups, keys: [...above, key], carried: new Map(), after: key === 'after_each', beside };
}

/**
 * Adds the parameters of its source groups to a block; any other block stays as it is. The source runs bring these parameters, so
 * parameters above all groups count only through them.
 *
 * @param above Blocks of earlier groups: only these can be named, so no group is made of itself.
 * @param own Parameters that the group itself sets.
 */
export function withRunsOf(
  above: readonly Block[],
  block: Block,
  own: readonly (readonly [string, ParameterRule])[],
): Block {
  const { each } = block;
  if (each === null) return block;
  const sources = above.filter(({ group }) => each.groups.some(({ name }) => name === group));
  const names = sources.flatMap(parameterNames);
  const writings = sources.map(writingOf);
  const writtenOf = (name: string) => new Map(writings.flatMap((writing) => [...(writing.get(name) ?? [])]));
  const carried = new Map(names.map((name) => [name, { ...carriedRule(name, sources), written: writtenOf(name) }]));
  const none = { content: [], keys: block.keys };
  return {
    ...block,
    each: { ...each, carried },
    parameters: new Map([...carried, ...own]),
    cases: [],
    include: none,
    writtenInInclude: new Map(),
    exclude: none,
    method: { content: methodFrom('grid', { cap: null, seed: 0, dialect: block.dialect }), keys: block.keys },
    when: block.when?.keys[0] === 'groups' ? block.when : null,
  };
}

type AxisRule = Extract<ParameterRule, { kind: 'axis' }>;

/** A rule without values, since the source run brings the value; the path of a nested parameter is kept. */
function carriedRule(name: string, sources: readonly Block[]): Omit<AxisRule, 'written'> {
  const rules = sources.flatMap((source) => [source.parameters, ...source.cases].map((each) => each.get(name)));
  const { path = [name], keys = null } = rules.find((rule) => rule !== undefined) ?? {};
  const one = { kind: 'axis', values: [unset], double: false, constant: true } as const;
  return { ...one, keys, path, when: null, probabilities: null, crossed: false };
}

/** Whether the group sets the parameter itself, which overrides the source run's value. */
export function isOwn({ each, parameters }: Block, name: string): boolean {
  return each === null || parameters.get(name) !== each.carried.get(name);
}

/** Source groups of `after_each`, each of whose runs is followed by one of this group's. */
export function sourcesAfter({ each }: Block): string[] {
  return each?.after === true ? each.groups.map(({ name }) => name) : [];
}

/** Groups whose runs it waits for. */
export function neededGroups(block: Block): string[] {
  return [...new Set([...block.needs.map(({ group }) => group), ...sourcesAfter(block)])];
}

type Mistake = { readonly keys: KeyPath; readonly problem: string; readonly fix: string };

/** Keys that conflict with `for_each` and `after_each`, and names that these cannot refer to. @param blocks All of the file. */
export function mistakesInEach({ group, keys, each }: Block, blocks: readonly Block[]): Mistake[] {
  if (each === null) return [];
  const before = blocks.slice(
    0,
    blocks.findIndex((block) => block.group === group),
  );
  const named = each.groups.flatMap(({ name, at }): Mistake[] => {
    const source = before.find((block) => block.group === name);
    const place = [...each.keys, ...at];
    if (source === undefined) return [{ keys: place, ...unknownSource(name, before, blocks) }];
    const { content: method } = source.method;
    if (method.kind === 'grid' || !method.open) return [];
    const problem = `the points of group \`${name}\` are chosen one by one, and its runs are not known at the launch.`;
    return [{ keys: place, problem, fix: 'Draw its points: `method: random` and `run_cap: 20`.' }];
  });
  const { beside } = each;
  if (beside === null) return named;
  const problem = `the points of group \`${group}\` are those of other runs (\`${each.keys.at(-1)}\`), so \`${beside}\` has no use.`;
  return [...named, { keys: [...keys, beside], problem, fix: `Remove \`${beside}\`; \`when\` leaves points out.` }];
}

function unknownSource(
  name: string,
  before: readonly Block[],
  all: readonly Block[],
): { problem: string; fix: string } {
  if (all.some(({ group }) => group === name)) {
    const fix = 'Put a group below those whose runs it is made of.';
    return { problem: `group \`${name}\` is not above this one.`, fix };
  }
  const names = before.map(({ group }) => group);
  return {
    problem: `there is no group \`${name}\`. ${didYouMean(name, names)}`,
    fix: 'Name a group that stands above.',
  };
}
