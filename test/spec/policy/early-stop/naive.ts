import type { EarlyTerminate } from '../../../../src/spec/planned-run.js';

/**
 * Whether a run should end after its last value, from the whole histories of all runs: the rules as one would write them
 * down first. The lower, the better. For `asha` and `median` only the moment of arrival counts.
 */
export function naiveWhy(rule: EarlyTerminate, histories: ReadonlyMap<string, number[]>, run: string): boolean {
  const own = histories.get(run)!;
  if (rule.type === 'hyperband') return naiveHyperband(rule, [...histories.values()], own);
  if (rule.type === 'asha') return naiveAsha(rule, [...histories.values()], own);
  const siblings = [...histories].filter(([name]) => name !== run).map(([, history]) => history);
  return naiveMedian(rule, siblings, own);
}

type RuleOf<Type> = Extract<EarlyTerminate, { type: Type }>;

function naiveHyperband(rule: RuleOf<'hyperband'>, all: number[][], own: number[]): boolean {
  const bands: number[] = [];
  if (rule.max_iter !== undefined) {
    for (let k = 1; k <= (rule.s ?? 0); k += 1) bands.push(Math.floor(rule.max_iter / rule.eta ** k));
  } else for (let k = 0; k < 30; k += 1) bands.push(Math.floor(rule.min_iter! * rule.eta ** k));
  const reached = bands.filter((band) => band >= 1 && band <= own.length);
  if (reached.length === 0) return false;
  const band = Math.max(...reached);
  const values = all.filter(({ length }) => length >= band).map((history) => history[band - 1]!);
  const threshold = values.sort((a, b) => a - b)[Math.floor(values.length * (1 / rule.eta))]!;
  return (rule.strict ? own[band - 1]! : Math.min(...own)) > threshold;
}

function naiveAsha(rule: RuleOf<'asha'>, all: number[][], own: number[]): boolean {
  const rungs = Array.from({ length: 12 }, (_, k) => rule.min_iter * rule.eta ** k)
    .filter((rung) => rung <= (rule.max_iter ?? Infinity))
    .map(Math.floor);
  const rung = own.length;
  if (!rungs.includes(rung)) return false;
  const values = all.filter(({ length }) => length >= rung).map((history) => history[rung - 1]!);
  const better = values.filter((value) => value < own.at(-1)!).length;
  return better > 0 && better + 1 > values.length / rule.eta;
}

function naiveMedian(rule: RuleOf<'median'>, siblings: number[][], own: number[]): boolean {
  const checkpoints: number[] = [];
  for (let at = rule.min_iter; at <= own.length; at = Math.max(at + 1, Math.ceil(at * 1.1 - 1e-9)))
    checkpoints.push(at);
  const at = own.length;
  const there = siblings.filter(({ length }) => length >= at);
  if (!checkpoints.includes(at) || there.length < rule.min_runs) return false;
  const averages = there.map((history) => history.slice(0, at).reduce((sum, value) => sum + value, 0) / at);
  averages.sort((a, b) => a - b);
  const median = (averages[(averages.length - 1) >> 1]! + averages[averages.length >> 1]!) / 2;
  return Math.min(...own) > median;
}
