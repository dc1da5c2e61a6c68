import { UserError } from '../../base/user-error.js';
import { didYouMean } from '../../text/nearest.js';
import { compileBlock, dependencyOrder, mostRuns } from '../expand/compile-block.js';
import { identifierOf } from '../expand/expression/cel-environment.js';
import { compileExpression, ExpressionError } from '../expand/expression/expression.js';
import { type Distribution, distributionProblem, gridValues } from '../expand/sampling/distribution.js';
import { dimensionProblem } from '../expand/sampling/unit-points.js';
import { earlyTerminateProblem } from '../policy/early-stop/parse-rule.js';
import { type KeyPath, type LocatedDiagnostic, locatedDiagnostic, type Mistake, type Report } from './diagnostic.js';
import {
  type Block,
  isInherited,
  type NeededGroup,
  neededGroups,
  parameterNames,
  type ParameterRule,
  type ParameterRules,
} from './sweep-file.js';
import type { SweepText } from './sweep-schema.js';
import type { YamlSource } from './yaml-source.js';

/** All mistakes in the groups of a file: in each by itself, and in how they name each other. */
export function blockDiagnostics(blocks: readonly Block[], source: YamlSource): LocatedDiagnostic[] {
  const diagnostic = locatedDiagnostic(source.placeOf);
  // A mistake above the groups is found again in every group that inherits it, and is reported once.
  const found = new Map<string, { diagnostic: LocatedDiagnostic; groups: string[] }>();
  for (const block of blocks) {
    const report = (mistake: Mistake) => {
      const key = JSON.stringify(mistake);
      const { groups } = found.get(key) ?? { groups: [] };
      found.set(key, { diagnostic: diagnostic(mistake), groups: [...new Set([...groups, block.group])] });
    };
    checkBlock(block, report);
    compileBlock(block, report);
  }
  const told = [...found.values()].map(({ diagnostic: one, groups }) =>
    one.keys[0] === 'groups' || groups.length === blocks.length
      ? one
      : { ...one, problem: `${one.problem} (In group ${groups.map((group) => `\`${group}\``).join(', ')}.)` },
  );
  return [
    ...told,
    ...diagnosticsAboutBudget(blocks, source),
    ...diagnosticsAboutProgress(blocks, source),
    ...diagnosticsAboutNeeds(blocks, source),
    ...blocks.flatMap((block) => mistakesInEach(block, blocks)).map(diagnostic),
  ];
}

/** Number of unknown names for which a hint is computed. */
const mostHints = 20;

/** Checks `extends` above the groups, which may name parameters that only some groups have. */
function diagnosticsAboutBudget(blocks: readonly Block[], source: YamlSource): LocatedDiagnostic[] {
  const lists = new Map(blocks.map((block) => [JSON.stringify(block.extends.keys), block]));
  return [...lists.values()].flatMap((block) => {
    const { content, keys } = block.extends;
    const among = keys.length === 1 ? blocks : [block];
    const known = new Set(among.flatMap(parameterNames));
    return content
      .filter((name) => !known.has(name))
      .slice(0, mostHints)
      .map((name): LocatedDiagnostic => {
        const at = [...keys, content.indexOf(name)];
        const problem = `there is no parameter \`${name}\`. ${didYouMean(name, [...known])}`;
        return { place: source.placeOf(at), keys, problem, fix: 'List parameters of the sweep in `extends`.' };
      });
  });
}

/** Checks `metrics.progress` above the groups, which applies to groups with its parameters, so at least one must have them. */
function diagnosticsAboutProgress(blocks: readonly Block[], source: YamlSource): LocatedDiagnostic[] {
  const inheriting = blocks.filter((block) => block.progress !== null && isInherited(block.progress, block));
  const [first] = inheriting;
  if (first?.progress === undefined || first.progress === null) return [];
  const names = namesIn(String(first.progress.content.total));
  const known = inheriting.map((block) => new Set(parameterNames(block).map(identifierOf)));
  if (known.some((all) => names.every((name) => all.has(name)))) return [];
  const every = [...new Set(known.flatMap((all) => [...all]))];
  const missing = names.find((name) => !every.includes(name));
  const problem =
    missing === undefined
      ? `no group has all of ${names.map((name) => `\`${name}\``).join(', ')}.`
      : `no group has a parameter \`${missing}\`. ${didYouMean(missing, every)}`;
  const keys = [...first.progress.keys, 'total'];
  return [{ place: source.placeOf(keys), keys, problem, fix: 'Say the total with parameters that a group has.' }];
}

/** Variables of an expression; empty if it cannot be compiled, which is reported elsewhere. */
function namesIn(text: string): readonly string[] {
  try {
    return compileExpression(text).names;
  } catch (error) {
    if (error instanceof ExpressionError) return [];
    throw error;
  }
}

function diagnosticsAboutNeeds(blocks: readonly Block[], source: YamlSource): LocatedDiagnostic[] {
  const known = new Map(blocks.map((block) => [block.group, block]));
  const unknown = blocks.flatMap((block) =>
    block.needs.slice(0, mostHints).flatMap((need): LocatedDiagnostic[] => {
      const keys = [...block.keys, 'needs', ...need.at];
      const mistake = mistakeInNeed(block, need, known);
      return mistake === null ? [] : [{ place: source.placeOf(keys), keys, ...mistake }];
    }),
  );
  const order = dependencyOrder(new Map(blocks.map((block) => [block.group, neededGroups(block)])));
  if (order.kind === 'order') return unknown;
  const at = ['groups', order.ring[0]!, 'needs'];
  const problem = `these groups wait for each other: ${order.ring.join(' → ')}.`;
  return [...unknown, { place: source.placeOfKey(at), keys: at, problem, fix: 'Remove one of these `needs`.' }];
}

/** What is wrong with a need; null: nothing. A need by parameters selects runs with the same values. */
function mistakeInNeed(
  block: Block,
  { group: name, by }: NeededGroup,
  known: ReadonlyMap<string, Block>,
): { problem: string; fix: string } | null {
  const needed = known.get(name);
  if (needed === undefined) {
    const others = [...known.keys()].filter((other) => other !== block.group);
    const problem = `there is no group \`${name}\`. ${didYouMean(name, others)}`;
    return { problem, fix: 'Name a group of this file in `needs`.' };
  }
  const open = [block, needed].find(
    ({ method: { content } }) => by.length > 0 && content.kind !== 'grid' && content.open,
  );
  if (open !== undefined) {
    const problem = `the points of group \`${open.group}\` are chosen one by one, and a need by parameters goes with points that are known at the launch.`;
    return { problem, fix: `Need the whole group (\`needs: [${name}]\`), or give both groups points of their own.` };
  }
  for (const { group, ...own } of [block, needed]) {
    const names = parameterNames(own);
    const missing = by.find((parameter) => !names.includes(parameter));
    if (missing === undefined) continue;
    const problem = `there is no parameter \`${missing}\` in group \`${group}\`. ${didYouMean(missing, names)}`;
    return { problem, fix: 'Name parameters that both groups have.' };
  }
  return null;
}

/** Reports contradictions in a block, as far as they can be found without evaluating expressions. */
export function checkBlock(block: Block, report: Report): void {
  checkNames(block, report);
  for (const rules of [block.parameters, ...block.cases]) {
    for (const [name, rule] of rules) checkRule(block, { name, rule }, report);
  }
  for (const one of block.cases) {
    refuseDoubleAxes(block, one, report);
    refuseCrossed(one, 'a case is drawn together with its values.', report);
  }
  checkMethod(block, report);
  checkEdits(block, report);
  checkEarlyTerminate(block, report);
}

function checkNames(block: Block, report: Report): void {
  for (const { content: name, keys } of block.twice) {
    report({ keys, problem: `\`${name}\` appears twice.`, fix: 'Remove or rename one of the two.' });
  }
  const names = parameterNames(block);
  if (names.length > mostParameters) {
    const problem = `there are ${names.length} parameters; the limit is ${mostParameters}.`;
    return report({
      keys: [...block.keys, 'parameters'],
      problem,
      fix: 'Put those that belong together into one list or text.',
    });
  }
  const first = new Map<string, string>();
  for (const name of names) {
    const identifier = identifierOf(name);
    if (identifier === '__proto__') {
      const problem = `\`${name}\` is \`__proto__\` in expressions, which cannot be used as a name.`;
      return report({ keys: block.parameters.get(name)?.keys ?? block.keys, problem, fix: 'Rename it.' });
    }
    if (!first.has(identifier)) first.set(identifier, name);
    else {
      const problem = `\`${name}\` and another parameter are both \`${identifier}\` in expressions.`;
      return report({ keys: block.parameters.get(name)?.keys ?? block.keys, problem, fix: 'Rename one of them.' });
    }
  }
}

type Named = { name: string; rule: ParameterRule };

function checkRule({ method, keys: group }: Block, { name, rule }: Named, report: Report): void {
  const keys = rule.keys ?? group;
  const isGrid = method.content.kind === 'grid';
  if (rule.kind === 'drawn') {
    const mistake = distributionProblem(rule.distribution);
    if (mistake !== null) report({ keys, problem: `${mistake}.`, fix: `Correct the numbers of \`${name}\`.` });
    else if (isGrid) refuseUnlisted(name, { keys, distribution: rule.distribution }, report);
  } else if (rule.kind === 'axis' && rule.probabilities !== null && isGrid) {
    const problem = `a grid has each value of \`${name}\` once, whatever its \`probabilities\`.`;
    report({ keys, problem, fix: 'Remove `probabilities`, or draw the runs: `method: random` and `run_cap: 20`.' });
  }
}

type Drawn = { keys: KeyPath; distribution: Distribution };

function refuseUnlisted(name: string, { keys, distribution }: Drawn, report: Report): void {
  if (gridValues(distribution, mostRuns) !== null) return;
  const { name: kind } = distribution;
  const problem =
    kind === 'int_uniform' || kind === 'q_uniform'
      ? `\`${name}\` has more than ${mostRuns.toLocaleString('en-US')} values.`
      : `\`${name}\` is drawn at random (${kind}), and the runs are a grid.`;
  const fix = `List the values of \`${name}\` ({values: […]}), or draw the runs: \`method: random\` and \`run_cap: 20\`.`;
  report({ keys, problem, fix });
}

function refuseDoubleAxes(block: Block, one: ParameterRules, report: Report): void {
  for (const [name, rule] of one) {
    const outer = block.parameters.get(name);
    const isAxis = outer?.kind === 'drawn' || (outer?.kind === 'axis' && outer.values.length > 1);
    if (!isAxis) continue;
    const problem = `\`${name}\` is an axis of \`parameters\` and also set by this case.`;
    report({ keys: rule.keys, problem, fix: `Set \`${name}\` in one of the two places.` });
  }
}

function refuseCrossed(rules: ParameterRules, why: string, report: Report): void {
  for (const [name, rule] of rules) {
    if (rule.kind !== 'axis' || !rule.crossed) continue;
    const problem = `\`${name}\` is a \`grid\` here, and ${why}`;
    report({
      keys: rule.keys,
      problem,
      fix: 'Write `values` instead of `grid`, or move it to `parameters` of a search.',
    });
  }
}

function checkMethod({ method, parameters, cases }: Block, report: Report): void {
  const { content, keys } = method;
  if (content.kind !== 'grid' && content.open) {
    refuseCrossed(parameters, 'points are chosen one by one: each is one run.', report);
  }
  if (content.kind === 'grid' || content.kind === 'bayes') return;
  const crossed = [...parameters.values()].filter((rule) => rule.kind === 'axis' && rule.crossed);
  const runs = crossed.reduce((product, rule) => product * (rule.kind === 'axis' ? rule.values.length : 1), 1);
  if (content.cap !== null && content.cap < runs) {
    const problem = `each point is run with ${runs} combinations of the \`grid\` values, and \`run_cap\` is ${content.cap} runs.`;
    report({ keys, problem, fix: `Set \`run_cap\` to ${runs} times the number of points.` });
  }
  if (content.cap === null && !content.open) {
    const problem = `\`method: ${content.kind}\` never ends without \`run_cap\`.`;
    report({ keys, problem, fix: 'Set the number of runs: `run_cap: 20`.' });
  }
  const varying = [parameters, ...cases].flatMap((rules) => [...rules.values()]).filter(varies).length;
  const mistake = dimensionProblem(content.kind, varying + Number(cases.length > 1));
  if (mistake !== null) report({ keys, problem: `${mistake}.`, fix: 'Use `method: lhs`, or let fewer vary.' });
}

/**
 * Reports what keeps points from being chosen one by one. Separate from the other checks, as `--set` may have changed the method.
 */
export function checkSearch(block: Block, report: Report): void {
  const { content: method } = block.method;
  if (method.kind === 'grid' || !method.open) return;
  if (block.include.content.length > 0) {
    const problem = '`include` goes with points that are all known at the launch, and here they are chosen one by one.';
    const fix = 'Remove `include`, or draw the points: `method: random` and `run_cap: 20`.';
    report({ keys: block.include.keys, problem, fix });
  }
  if (method.kind === 'bayes') checkBayes(block, report);
}

function checkBayes({ method: { keys }, objective, parameters, cases }: Block, report: Report): void {
  if (objective === null) {
    const problem = '`method: bayes` chooses points by a metric, and there is no `metric`.';
    report({ keys, problem, fix: 'Add `metric: {name: loss, goal: minimize}`, or whatever says how good a run is.' });
  }
  if (cases.length > 0) {
    const problem = '`method: bayes` chooses among values of `parameters`, and `cases` are none.';
    report({ keys, problem, fix: 'Make groups of the cases, or draw the points: `method: random`.' });
  }
  if (![...parameters.values()].some(varies)) {
    const problem = '`method: bayes` has nothing to choose: no parameter has several values.';
    report({
      keys,
      problem,
      fix: 'Give one a range: `lr: {distribution: log_uniform_values, min: 0.0001, max: 0.1}`.',
    });
  }
}

function varies(rule: ParameterRule): boolean {
  return rule.kind === 'drawn' || (rule.kind === 'axis' && rule.values.length > 1 && !rule.crossed);
}

function checkEdits(block: Block, report: Report): void {
  const all = [block.parameters, ...block.cases].flatMap((rules) => [...rules]);
  const set = new Set(all.map(([name]) => name));
  const derived = new Set(all.filter(([, rule]) => rule.kind === 'derived').map(([name]) => name));
  let unknown = 0;
  for (const kind of ['include', 'exclude'] as const) {
    const { content, keys } = block[kind];
    content.forEach((entry, index) => {
      for (const name of Object.keys(entry)) {
        const at = [...keys, index];
        if (derived.has(name)) {
          const problem = `\`${name}\` is computed from the other parameters.`;
          report({ keys: at, problem, fix: kind === 'include' ? 'Set those.' : 'Name those, or use `when`.' });
        } else if (kind === 'exclude' && !set.has(name)) {
          unknown += 1;
          if (unknown > mostHints) continue;
          const problem = `there is no parameter \`${name}\`. ${didYouMean(name, [...set])}`;
          report({ keys: at, problem, fix: 'Name parameters of the group in `exclude`.' });
        }
      }
    });
  }
}

function checkEarlyTerminate({ earlyTerminate, objective, dialect }: Block, report: Report): void {
  if (earlyTerminate === null) return;
  const { content, keys } = earlyTerminate;
  const mistake = earlyTerminateProblem(content);
  if (mistake !== null) report({ keys, ...mistake });
  if (objective === null && dialect === 'own') {
    const problem = '`early_terminate` compares runs by a metric, and there is no `metric`.';
    report({ keys, problem, fix: 'Add `metric: {name: loss, goal: minimize}`, or whatever says how good a run is.' });
  }
}

/** Limit on the number of groups in a file. */
const mostGroups = 2000;
/** Limit on the number of parameters in a group. */
const mostParameters = 2000;
/** Limit on the number of values of all groups together, inherited ones included. */
const mostInherited = 5_000_000;

/**
 * Refuses a file in which much is repeated for each of many groups or cases, before it is expanded: a small file could otherwise
 * exhaust the memory.
 *
 * @throws {UserError} With what there is too much of.
 */
export function refuseLargeSweep({ groups = {}, ...above }: SweepText, path: string): void {
  const count = Object.keys(groups).length;
  if (count > mostGroups) throw tooMuch(path, `${words(count)} groups`, `${words(mostGroups)} groups`, splitUp);
  const shared = valuesIn(above);
  const inherited = count * shared;
  if (inherited > mostInherited) {
    const what = `${words(count)} groups that inherit ${words(shared)} values each`;
    throw tooMuch(path, what, `${words(mostInherited)} values in all`, 'Say in a group what only it needs.');
  }
  [above, ...Object.values(groups)].forEach((block) => refuseManyCases(above, block, path));
}

type Multiplied = Pick<SweepText, 'cases' | 'parameters'>;

function refuseManyCases(above: Multiplied, block: Multiplied, path: string): void {
  const cases = block.cases ?? above.cases ?? [];
  const parameters = new Set([above, block].flatMap(({ parameters: own = {} }) => Object.keys(own))).size;
  if (cases.length * parameters <= mostInherited) return;
  const what = `${words(cases.length)} cases of ${words(parameters)} parameters`;
  throw tooMuch(path, what, `${words(mostInherited)} values in all`, splitUp);
}

const splitUp = 'Make several sweeps of it.';

function tooMuch(path: string, what: string, limit: string, fix: string): UserError {
  return new UserError(`${path} has ${what}; the limit is ${limit}.`, fix);
}

function words(count: number): string {
  return count.toLocaleString('en-US');
}

function valuesIn(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 1;
  return Object.values(value).reduce<number>((sum, inner) => sum + valuesIn(inner), 1);
}

/** Keys that conflict with `for_each` and `after_each`, and names that these cannot refer to. @param blocks All of the file. */
function mistakesInEach({ group, keys, each }: Block, blocks: readonly Block[]): Mistake[] {
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
