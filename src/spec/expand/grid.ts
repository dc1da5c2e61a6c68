import type { Value } from './expression/cel-value.js';
import { fromCel } from './expression/cel-value.js';
import type { CelValue } from './expression/cel-environment.js';
import { visitDraws, visitGrid, type Combination } from './combinations.js';
import type { Axis, CompiledBlock, Step, Variant } from './compiled-block.js';
import type { KeyPath } from '../file/diagnostic.js';
import { ExpressionError } from './expression/expression.js';
import { MatrixEdits } from './matrix-edits.js';

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

/** How many points there are at most. */
export function gridSize({ axes, variants, include, block }: CompiledBlock): number {
  const { content: method } = block.method;
  if (method.kind !== 'grid') return (method.cap ?? 0) + include.length;
  const size = (all: readonly Axis[]) => all.reduce((product, { values }) => product * values.length, 1);
  return size(axes) * variants.reduce((sum, variant) => sum + size(variant.axes), 0) + include.length;
}

/**
 * All points of a block, in the order of its method; those that `include` adds come last. Points that differ only in a
 * parameter that is not passed are one point.
 *
 * @throws {PointError} When an expression fails at a point.
 */
export function pointsOf(compiled: CompiledBlock): Point[] {
  const { content: method } = compiled.block.method;
  const edits = new MatrixEdits(compiled);
  const seen = new Set<string>();
  const points: Point[] = [];
  const add = ({ variant, values, variables }: Combination): boolean => {
    const point = complete(variant, variables, values);
    const isNew = exists(compiled, point) && (!mayRepeat(compiled, variant) || isFirst(point, seen));
    if (isNew) points.push(point);
    return isNew;
  };
  const take = (combination: Combination): boolean => {
    if (edits.excludes(combination)) return false;
    edits.include(combination);
    return add(combination);
  };
  if (method.kind !== 'grid') visitDraws(compiled, take);
  else {
    visitGrid(compiled, (combination) => {
      if (method.cap === null || points.length < method.cap) take(combination);
    });
  }
  edits.own().forEach(add);
  return points;
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

/** In a grid no two points can be the same without a `when` on a parameter, unless the file says a value twice. */
function mayRepeat({ block }: CompiledBlock, { steps }: Variant): boolean {
  return block.dialect === 'wandb' || block.method.content.kind !== 'grid' || steps.some(({ when }) => when !== null);
}

function isFirst(point: Point, seen: Set<string>): boolean {
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
