import type { Value } from './cel-value.js';
import { fromCel } from './cel-value.js';
import type { CelValue } from './cel-environment.js';
import type { Axis, CompiledBlock, Step, Variant } from './compiled-block.js';
import type { KeyPath } from './complaint.js';
import { ExpressionError } from './expression.js';

/** One point of a grid: parameters in the order of the file, and the same as variables for expressions. */
export type Point = {
  readonly parameters: Readonly<Record<string, Value>>;
  readonly variables: Readonly<Record<string, CelValue>>;
};

/** Something that only shows when a point is computed, such as a division by zero. */
export class PointError extends Error {
  override readonly name = 'PointError';
  readonly keys: KeyPath | null;
  readonly span: { start: number; end: number };

  constructor(problem: string, keys: KeyPath | null, span: { start: number; end: number }) {
    super(problem);
    this.keys = keys;
    this.span = span;
  }
}

/** How many points there are before any `when`. */
export function gridSize({ axes, variants }: CompiledBlock): number {
  const size = (all: readonly Axis[]) => all.reduce((product, { values }) => product * values.length, 1);
  return size(axes) * variants.reduce((sum, variant) => sum + size(variant.axes), 0);
}

/**
 * All points: the block's axes in order, then the cases, then a case's own axes; the last varies fastest. Points that
 * differ only in a parameter that is not passed are one point.
 *
 * @throws {PointError} When an expression fails at a point.
 */
export function pointsOf(compiled: CompiledBlock): Point[] {
  const seen = new Set<string>();
  const points: Point[] = [];
  const variables: Record<string, CelValue> = {};
  const values: Record<string, Value> = {};
  walk(compiled.axes, variables, values, () => {
    for (const variant of compiled.variants) {
      const before = { variables: { ...variables }, values: { ...values } };
      walk(variant.axes, before.variables, before.values, () => {
        const point = complete(variant, { ...before.variables }, { ...before.values });
        if (exists(compiled, point) && isFirst(variant, point, seen)) points.push(point);
      });
    }
  });
  return points;
}

/** Sets the axes one by one, in place, and calls `visit` at each full setting. */
function walk(
  axes: readonly Axis[],
  variables: Record<string, CelValue>,
  values: Record<string, Value>,
  visit: () => void,
): void {
  const [axis, ...rest] = axes;
  if (axis === undefined) return visit();
  for (const [value, cel] of axis.values) {
    variables[axis.identifier] = cel;
    values[axis.name] = value;
    walk(rest, variables, values, visit);
  }
}

function complete(variant: Variant, variables: Record<string, CelValue>, values: Record<string, Value>): Point {
  for (const step of variant.steps) take(step, variables, values);
  const parameters = Object.fromEntries(
    variant.names.filter((name) => Object.hasOwn(values, name)).map((name) => [name, values[name]!]),
  );
  return { parameters, variables };
}

function take(step: Step, variables: Record<string, CelValue>, values: Record<string, Value>): void {
  const above = step.rule.keys;
  if (step.when && !isTrue(step.when, variables, above && [...above, 'when'])) {
    delete variables[step.identifier];
    delete values[step.name];
    return;
  }
  if (step.expr === null) return;
  const keys = above && [...above, 'expr'];
  const result = evaluated(step.expr, variables, keys);
  const whole = { start: 0, end: step.expr.source.length };
  const value = fromCel(result);
  if (value === null) {
    const problem = `it gives ${typeof result === 'number' || typeof result === 'bigint' ? `${result}, which is not an exact number` : 'something that is no parameter'}`;
    throw new PointError(`${problem}${at(variables)}.`, keys, whole);
  }
  variables[step.identifier] = result;
  values[step.name] = value.value;
}

function exists({ when }: CompiledBlock, { variables }: Point): boolean {
  return when === null || isTrue(when.content, variables, when.keys);
}

/** Without a `when` on a parameter no two points can be the same, unless the file says a value twice. */
function isFirst(variant: Variant, point: Point, seen: Set<string>): boolean {
  if (!variant.steps.some(({ when }) => when !== null)) return true;
  const key = JSON.stringify(point.parameters);
  if (seen.has(key)) return false;
  seen.add(key);
  return true;
}

type Evaluates<Result> = {
  readonly source: string;
  readonly evaluate: (variables: Readonly<Record<string, CelValue>>) => Result;
};

function isTrue(expression: Evaluates<CelValue>, variables: Record<string, CelValue>, keys: KeyPath | null): boolean {
  const result = evaluated(expression, variables, keys);
  if (typeof result === 'boolean') return result;
  const whole = { start: 0, end: expression.source.length };
  throw new PointError(`\`when\` must be true or false; it gives ${String(result)}${at(variables)}.`, keys, whole);
}

/** @throws {PointError} With the place and the point. */
export function evaluated<Result>(
  expression: Evaluates<Result>,
  variables: Readonly<Record<string, CelValue>>,
  keys: KeyPath | null,
): Result {
  try {
    return expression.evaluate(variables);
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    const why = error.missing === null ? error.message : `\`${error.missing}\` is not passed`;
    throw new PointError(`${why}${at(variables)}.`, keys, error);
  }
}

/** ` at N=16, seed=0`, with what fits on a line. */
function at(variables: Readonly<Record<string, CelValue>>): string {
  const shown = Object.entries(variables).map(([name, value]) => `${name}=${String(value)}`);
  if (shown.length === 0) return '';
  return ` at ${shown.slice(0, 6).join(', ')}${shown.length > 6 ? ', …' : ''}`;
}
