import type { ParameterRule, ParameterRules } from '../file/block.js';
import { identifierOf, toCel, type Value } from './expression/cel-value.js';
import type { Axis, AxisValue, CompiledEdit } from './compiled-block.js';
import { holdsFraction } from '../file/parameter-rules.js';
import type { Edit } from '../file/block.js';
import { gridValues, quantile, type Distribution } from './sampling/distribution.js';

/** More is a mistake in an axis sooner than a wish, and would take all memory. */
export const mostRuns = 200_000;

/** The axes of a grid, or those to draw from. Parameters that are computed have none. */
export function axesOf(rules: ParameterRules, isGrid: boolean): Axis[] {
  return [...rules].flatMap(([name, rule]) => axisOf(name, rule, isGrid) ?? []);
}

function axisOf(name: string, rule: ParameterRule, isGrid: boolean): Axis | null {
  const named = { name, identifier: identifierOf(name) };
  if (rule.kind === 'derived') return null;
  if (rule.kind === 'axis') {
    const values = rule.values.map((value) => pair(value, rule.double));
    return { ...named, constant: rule.constant, values, draw: drawFrom(values, rule.probabilities) };
  }
  const listed = isGrid ? gridValues(rule.distribution, mostRuns) : null;
  const values = (listed ?? []).map((value) => pair(value, !rule.distribution.whole));
  return { ...named, constant: false, values, draw: (u) => drawn(rule.distribution, u) };
}

function pair(value: Value, double: boolean): AxisValue {
  return [value, toCel(value, double)];
}

function drawn(distribution: Distribution, u: number): AxisValue {
  return pair(quantile(distribution, u), !distribution.whole);
}

function drawFrom(values: readonly AxisValue[], probabilities: readonly number[] | null): Axis['draw'] {
  if (probabilities === null) return (u) => values[Math.floor(u * values.length)]!;
  return (u) => {
    let rest = u;
    const place = probabilities.findIndex((probability) => (rest -= probability) < 0);
    // The probabilities may add up to a hair less than 1.
    return values[place < 0 ? probabilities.findLastIndex((probability) => probability > 0) : place]!;
  };
}

/** An entry of `include` or `exclude`; numbers are of the same kind as on the axis of that name. */
export function compiledEdit(edit: Edit, rules: ParameterRules): CompiledEdit {
  return Object.entries(edit).map(([name, value]) => {
    const rule = rules.get(name);
    const double = holdsFraction([value]) || (rule?.kind === 'axis' && rule.double);
    return { name, identifier: identifierOf(name), value: pair(value, double) };
  });
}
