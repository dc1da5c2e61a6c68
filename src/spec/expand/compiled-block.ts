import type { Block, Edit, Located, ParameterRule, ParameterRules } from '../file/block.js';
import { holdsFraction } from '../file/parameter-schema.js';
import type { CommandWords } from './command-words.js';
import { type CelValue, identifierOf, toCel, type Value } from './expression/cel-environment.js';
import type { Expression } from './expression/expression.js';
import { type Distribution, gridValues, onlyValue, probability, quantile } from './sampling/distribution.js';
import type { Template } from './template.js';
import type { Nesting, Writing } from './value-text.js';

/** A parameter that must be computed at each point. */
export type Step = {
  readonly name: string;
  readonly identifier: string;
  readonly rule: ParameterRule;
  readonly when: Expression | null;
  readonly expr: Expression | null;
};

/** One case of a block, or the block itself when it has none. */
export type Variant = {
  /** Axes that the case adds to the block's, in its order. */
  readonly axes: readonly Axis[];
  /** Steps in the order in which they can be computed. */
  readonly steps: readonly Step[];
  /** All parameters that may be set, in file order. */
  readonly names: readonly string[];
};

/** A value as it is passed to the program, and as expressions see it. */
export type AxisValue = readonly [Value, CelValue];

/** The values of one parameter. A constant is an axis of one value. */
export type Axis = {
  readonly name: string;
  readonly identifier: string;
  readonly constant: boolean;
  /** Each drawn point is run with every one of the values. */
  readonly crossed: boolean;
  /** Empty for a parameter that is drawn from a distribution. */
  readonly values: readonly AxisValue[];
  /** Whether every place of the axis has a value of its own. */
  readonly continuous: boolean;
  /** Whether all its values are equally likely. */
  readonly even: boolean;
  /** The value at a place of the axis. @param u Between 0 and 1, both excluded. */
  readonly draw: (u: number) => AxisValue;
  /** The inverse of `draw`: the share of draws at or below a value; NaN for a value that the axis does not have. */
  readonly placeOf: (value: Value) => number;
};

/** An entry of `include` or `exclude`. */
export type CompiledEdit = readonly { readonly name: string; readonly identifier: string; readonly value: AxisValue }[];

/** A block with every expression, template and macro compiled once. */
export type CompiledBlock = {
  readonly block: Block;
  readonly axes: readonly Axis[];
  readonly variants: readonly Variant[];
  /** The variant of points that `include` adds: no case, no axes. */
  readonly bare: Variant;
  readonly include: readonly CompiledEdit[];
  readonly exclude: readonly CompiledEdit[];
  readonly when: Located<Expression> | null;
  readonly name: Located<Template> | null;
  readonly subgroup: Located<Template> | null;
  readonly total: Located<Expression> | null;
  readonly command: CommandWords;
  readonly resumeArgs: CommandWords;
  /** The command of its done rule; null: the rule is of another kind. */
  readonly done: CommandWords | null;
  readonly cwd: CommandWords | null;
  readonly folders: CommandWords;
  readonly env: CommandWords;
  readonly nesting: Nesting;
  readonly writing: Writing;
};

/** Limit on the number of runs of a sweep: more are probably a mistake in an axis, and would exhaust the memory. */
export const mostRuns = 200_000;

/** The axes of a grid, or those to draw from. Computed parameters have none. */
export function axesOf(rules: ParameterRules, isGrid: boolean): Axis[] {
  return [...rules].flatMap(([name, rule]) => axisOf(name, rule, isGrid) ?? []);
}

function axisOf(name: string, rule: ParameterRule, isGrid: boolean): Axis | null {
  const named = { name, identifier: identifierOf(name) };
  if (rule.kind === 'derived') return null;
  if (rule.kind === 'axis') {
    const values = rule.values.map((value) => pair(value, rule.double));
    const { constant, crossed, probabilities } = rule;
    return {
      ...named,
      constant,
      crossed,
      values,
      continuous: false,
      even: probabilities === null,
      draw: drawFrom(values, probabilities),
      placeOf: placeIn(values, probabilities),
    };
  }
  const { name: kind, q } = rule.distribution;
  const listed = isGrid ? gridValues(rule.distribution, mostRuns) : onlyValue(rule.distribution);
  const values = (listed ?? []).map((value) => pair(value, !rule.distribution.whole));
  const placeOf = (value: Value) => (typeof value === 'number' ? probability(rule.distribution, value) : Number.NaN);
  return {
    ...named,
    constant: false,
    crossed: false,
    values,
    continuous: kind !== 'int_uniform' && q === null,
    even: false,
    draw: (u) => drawn(rule.distribution, u),
    placeOf,
  };
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
    // Rounding may make the probabilities add up to slightly less than 1.
    return values[place < 0 ? probabilities.findLastIndex((probability) => probability > 0) : place]!;
  };
}

function placeIn(values: readonly AxisValue[], probabilities: readonly number[] | null): Axis['placeOf'] {
  const weights = probabilities ?? values.map(() => 1 / values.length);
  const texts = values.map(([value]) => JSON.stringify(value));
  return (value) => {
    const index = texts.indexOf(JSON.stringify(value));
    return index < 0 ? Number.NaN : weights.slice(0, index + 1).reduce((sum, weight) => sum + weight, 0);
  };
}

/** Compiles an entry of `include` or `exclude`; its numbers are of the same kind as on the axis of that name. */
export function compiledEdit(edit: Edit, rules: ParameterRules): CompiledEdit {
  return Object.entries(edit).map(([name, value]) => {
    const rule = rules.get(name);
    const double = holdsFraction([value]) || (rule?.kind === 'axis' && rule.double);
    return { name, identifier: identifierOf(name), value: pair(value, double) };
  });
}
