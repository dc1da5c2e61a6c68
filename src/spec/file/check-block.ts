import { UserError } from '../../base/user-error.js';
import { didYouMean } from '../../text/nearest.js';
import { mostRuns } from '../expand/compiled-block.js';
import { identifierOf } from '../expand/expression/cel-environment.js';
import { type Distribution, distributionProblem, gridValues } from '../expand/sampling/distribution.js';
import { dimensionProblem } from '../expand/sampling/unit-points.js';
import { earlyTerminateProblem } from '../policy/early-stop/parse-rule.js';
import { type Block, parameterNames, type ParameterRule, type ParameterRules } from './block.js';
import type { KeyPath, Report } from './diagnostic.js';
import type { SweepText } from './sweep-schema.js';

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

/** Number of unknown names for which a hint is computed. */
const mostHints = 20;

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
