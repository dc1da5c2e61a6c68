import { type Parameters, parameterOf } from '../../base/scalar.js';
import { isUnset } from '../file/sweep-file.js';
import type { Method } from '../file/sweep-file.js';
import type { KeyPath } from '../file/diagnostic.js';
import { type Axis, type AxisValue, type CompiledBlock, mostRuns, type Step, type Variant } from './compile-block.js';
import { type CelValue, fromCel, toCel, type Value } from './expression/cel-environment.js';
import { ExpressionError } from './expression/expression.js';
import { canonicalText, identityOf } from './identity.js';
import { type Combination, MatrixEdits } from './matrix-edits.js';
import { latinValue, unitPoints } from './sampling/unit-points.js';

/** One point of a grid: its parameters in file order, and the same as variables for expressions. */
export type Point = {
  readonly parameters: Readonly<Record<string, Value>>;
  readonly variables: Readonly<Record<string, CelValue>>;
  /** How its parameters are recomputed when others change, if it is made of a run; absent: by its block. */
  readonly steps?: readonly Step[];
  /** The run that its run comes after, by group and name; absent: none. */
  readonly after?: { readonly group: string; readonly name: string };
};

/** A mistake that only shows when a point is computed, such as a division by zero. */
export class PointError extends Error {
  override readonly name = 'PointError';
  readonly keys: KeyPath | null;
  readonly span: { start: number; end: number };
  readonly fix: string;

  constructor(
    problem: string,
    keys: KeyPath | null,
    span: { start: number; end: number },
    fix = 'Correct it, or leave such points out with `when`.',
  ) {
    super(problem);
    this.keys = keys;
    this.span = span;
    this.fix = fix;
  }
}

/** Upper bound of the number of points; for a group made of other runs, the number for each of them. */
export function gridSize(compiled: CompiledBlock): number {
  const { include, block } = compiled;
  const { content: method } = block.method;
  if (method.kind !== 'grid') return drawsOf(method) + include.length;
  return Math.min(allCombinations(compiled), limitOf(compiled) ?? Infinity) + include.length;
}

/** Upper bound of the combinations that are visited: those that are left out do not count towards `run_cap`. */
export function visitsOf(compiled: CompiledBlock): number {
  const cap = limitOf(compiled);
  if (cap === null || !mayLeaveOut(compiled)) return gridSize(compiled);
  return Math.min(allCombinations(compiled), mostRuns) + compiled.include.length;
}

/** Limit on the points of a grid; null: none. Points that are made of other runs have no limit. */
function limitOf({ block: { method, each } }: CompiledBlock): number | null {
  return method.content.kind === 'grid' && each === null ? method.content.cap : null;
}

function mayLeaveOut(compiled: CompiledBlock): boolean {
  const { when, exclude, variants } = compiled;
  return when !== null || exclude.length > 0 || variants.some((variant) => mayRepeat(compiled, variant));
}

/**
 * All points of a block, in the order of its method; those that `include` adds come last. Points that differ only in a parameter
 * that is not passed are merged.
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
  else visitUntil(compiled, take);
  edits.own().forEach(add);
  return points;
}

function complete(variant: Variant, variables: Record<string, CelValue>, values: Record<string, Value>): Point {
  for (const step of variant.steps) take(step, variables, values);
  return { parameters: inOrder(variant, values), variables };
}

/** The parameters that are set, in file order. */
export function inOrder({ names }: Variant, values: Record<string, Value>): Record<string, Value> {
  return Object.fromEntries(names.filter((name) => Object.hasOwn(values, name)).map((name) => [name, values[name]!]));
}

/** Computes one parameter, in place. */
export function take(step: Step, variables: Record<string, CelValue>, values: Record<string, Value>): void {
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
    const problem = `it gives ${typeof result === 'number' || typeof result === 'bigint' ? `${result}, which is not an exact number` : 'something that cannot be a parameter'}`;
    throw new PointError(`${problem}${at(variables)}.`, keys, whole);
  }
  variables[step.identifier] = result;
  values[step.name] = value.value;
}

export function exists({ when }: CompiledBlock, { variables }: Point): boolean {
  return when === null || isTrue(when.content, variables, when.keys);
}

/** Whether points may be equal. In a grid that needs a `when` on a parameter, or a value that the file lists twice. */
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
  throw new PointError(`\`when\` must be true or false; it gives ${shownValue(result)}${at(variables)}.`, keys, whole);
}

/** Evaluates an expression. @throws {PointError} With the place and the point. */
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

function shownValue(value: CelValue): string {
  if (typeof value !== 'object' || value === null) return String(value);
  return Array.isArray(value) ? value.map(shownValue).join(',') : '{…}';
}

/** The point in a message: ` at N=16, seed=0`, with as many parameters as fit on a line. */
function at(variables: Readonly<Record<string, CelValue>>): string {
  const shown = Object.entries(variables).map(([name, value]) => `${name}=${shownValue(value)}`);
  if (shown.length === 0) return '';
  return ` at ${shown.slice(0, 6).join(', ')}${shown.length > 6 ? ', …' : ''}`;
}

/** Visits a grid until `take` has accepted `run_cap` combinations. They are made lazily, as a grid may have millions. */
function visitUntil(compiled: CompiledBlock, take: (combination: Combination) => boolean): void {
  const cap = limitOf(compiled) ?? Infinity;
  let looked = 0;
  let taken = 0;
  visitGrid(compiled, (combination) => {
    looked += 1;
    if (looked > mostRuns) throw tooSparse(compiled, taken);
    if (take(combination)) taken += 1;
    return taken < cap;
  });
}

function tooSparse({ block: { method } }: CompiledBlock, taken: number): PointError {
  const problem = `of the first ${mostRuns.toLocaleString('en-US')} combinations only ${taken} are runs, fewer than \`run_cap\`.`;
  return new PointError(problem, method.keys, { start: 0, end: 1 }, 'Shorten an axis, or leave fewer points out.');
}

/**
 * Visits the block's axes in order, then the cases, then a case's own axes; the last varies fastest. Ends when `visit` returns
 * false.
 */
function visitGrid(compiled: CompiledBlock, visit: (combination: Combination) => boolean): void {
  const outer: Omit<Combination, 'variant'> = { variables: {}, values: {} };
  walk(compiled.axes, outer, () =>
    compiled.variants.every((variant) => {
      const inner = { variables: { ...outer.variables }, values: { ...outer.values } };
      return walk(variant.axes, inner, () =>
        visit({ variant, variables: { ...inner.variables }, values: { ...inner.values } }),
      );
    }),
  );
}

/**
 * Sets the axes one by one, in place, and calls `visit` at each full setting. Ends when that returns false, and then returns false.
 */
export function walk(axes: readonly Axis[], setting: Omit<Combination, 'variant'>, visit: () => boolean): boolean {
  const [axis, ...rest] = axes;
  if (axis === undefined) return visit();
  return axis.values.every((value) => {
    set(setting, axis, value);
    return walk(rest, setting, visit);
  });
}

function set({ variables, values }: Omit<Combination, 'variant'>, axis: Axis, [value, cel]: AxisValue): void {
  if (isUnset(value)) {
    delete variables[axis.identifier];
    delete values[axis.name];
    return;
  }
  variables[axis.identifier] = cel;
  values[axis.name] = value;
}

/** Name of the dimension that selects the case; no parameter's name contains a bracket. */
const caseDimension = '(case)';

/** Number of runs of each drawn point: the product of the sizes of the axes that are crossed with it. */
export function runsOfDraw(axes: readonly Pick<Axis, 'crossed' | 'values'>[]): number {
  return axes.filter(({ crossed }) => crossed).reduce((product, { values }) => product * values.length, 1);
}

/**
 * Draws combinations until `take` has accepted as many as asked for. A rejected one (a duplicate, or left out) is replaced by
 * another draw, except with `lhs`, whose draws belong together; the number of tries is limited. A draw is combined with all values
 * of the crossed axes, or dropped as a whole, so that `run_cap`, which counts runs, is never exceeded. `lhs` runs the whole grid
 * where that fits.
 */
function visitDraws(compiled: CompiledBlock, take: (combination: Combination) => boolean): void {
  const { content: method } = compiled.block.method;
  if (method.kind === 'grid') return;
  const cap = drawsOf(method);
  if (method.kind === 'lhs' && isGridWithin(compiled, cap)) return visitGrid(compiled, (each) => (take(each), true));
  const dimensions = dimensionsOf(compiled);
  const crossed = compiled.axes.filter((axis) => axis.crossed);
  const runs = runsOfDraw(crossed);
  const count = Math.floor(cap / runs);
  const kind = method.kind === 'bayes' ? 'random' : method.kind;
  const point = unitPoints(kind, method.seed, { dimensions, count });
  const places = new Map(dimensions.map((name, index) => [name, index]));
  const isLatin = method.kind === 'lhs';
  const tries = isLatin ? count : 20 * count + 1000;
  for (let index = 0, taken = 0; index < tries && taken + runs <= cap; index += 1) {
    const at = (name: string) => point(index, places.get(name)!);
    const { variant, variables, values } = drawn(compiled, at, isLatin ? count : null);
    walk(crossed, { variables, values }, () => {
      if (take({ variant, variables: { ...variables }, values: { ...values } })) taken += 1;
      return true;
    });
  }
}

/** Number of points drawn before the first run starts. For an open group it is one, which shows what its runs need. */
function drawsOf({ cap, open }: Exclude<Method, { kind: 'grid' }>): number {
  return open ? 1 : (cap ?? 0);
}

/**
 * The point at these coordinates; null: there is none, or it is left out.
 *
 * @param at Its coordinate in each of `dimensionsOf`, between 0 and 1, both excluded.
 */
export function pointAt(compiled: CompiledBlock, at: (dimension: string) => number): Point | null {
  const combination = drawn(compiled, at);
  if (new MatrixEdits(compiled).excludes(combination)) return null;
  const point = complete(combination.variant, combination.variables, combination.values);
  return exists(compiled, point) ? point : null;
}

/** The point with these parameters, with the block's budget instead of theirs; null: the block has none. */
export function pointOf(compiled: CompiledBlock, parameters: Parameters): Point | null {
  const { content: budget } = compiled.block.extends;
  const keyOf = (all: Parameters) => identityOf('', all, budget);
  const valueOf = (axis: Axis) => (budget.includes(axis.name) ? undefined : parameterOf(parameters, axis.name));
  for (const variant of compiled.variants) {
    const setting = { variables: {}, values: {} };
    const axes = [...compiled.axes, ...variant.axes];
    if (!axes.every((axis) => setTo(setting, axis, valueOf(axis)))) continue;
    if (new MatrixEdits(compiled).excludes({ variant, ...setting })) continue;
    const point = complete(variant, setting.variables, setting.values);
    if (exists(compiled, point) && keyOf(point.parameters) === keyOf(parameters)) return point;
  }
  return null;
}

/** Sets an axis to a value. False: the axis has no such value. A value that is not passed is set too; `when` removes it. */
function setTo(setting: Omit<Combination, 'variant'>, axis: Axis, value: Value | undefined): boolean {
  const text = canonicalText(value);
  const listed = axis.values.find(([each]) => (value === undefined ? isUnset(each) : canonicalText(each) === text));
  const other = value === undefined ? (axis.values[0] ?? axis.draw(0.5)) : drawnAs(axis, value);
  const found = listed ?? other;
  if (found === null) return false;
  set(setting, axis, found);
  return true;
}

function drawnAs(axis: Axis, value: Value): AxisValue | null {
  if (axis.values.length > 0 || typeof value !== 'number') return null;
  return [value, toCel(value, typeof axis.draw(0.5)[1] === 'number')];
}

/** Names of what varies: the block's axes, the case, and the axes of each case. */
export function dimensionsOf({ axes, variants }: CompiledBlock): string[] {
  return [
    ...axes.filter(isDrawn).map(({ name }) => name),
    ...(variants.length > 1 ? [caseDimension] : []),
    ...variants.flatMap((variant, index) => variant.axes.filter(isDrawn).map(({ name }) => inCase(index, name))),
  ];
}

/**
 * @param count Number of points of a Latin hypercube, over which values are distributed evenly; null: each point is drawn
 * independently.
 */
function drawn(
  { axes, variants }: CompiledBlock,
  at: (dimension: string) => number,
  count: number | null = null,
): Combination {
  const setting = { variables: {}, values: {} };
  const place = (u: number, size: number) => (count === null ? Math.floor(u * size) : latinValue(u, count, size));
  const setAxis = (axis: Axis, dimension: string) => {
    if (!isDrawn(axis)) return set(setting, axis, axis.values[0]!);
    const u = at(dimension);
    set(setting, axis, axis.even ? axis.values[place(u, axis.values.length)]! : axis.draw(u));
  };
  for (const axis of axes) setAxis(axis, axis.name);
  const index = variants.length > 1 ? place(at(caseDimension), variants.length) : 0;
  const variant = variants[index]!;
  for (const axis of variant.axes) setAxis(axis, inCase(index, axis.name));
  return { variant, ...setting };
}

/** Whether the grid of all values has at most `cap` points. Values that are drawn from a range have no grid. */
function isGridWithin(compiled: CompiledBlock, cap: number): boolean {
  const { axes, variants } = compiled;
  if ([...axes, ...variants.flatMap((variant) => variant.axes)].some((axis) => isDrawn(axis) && !axis.even))
    return false;
  return allCombinations(compiled) <= cap;
}

function allCombinations({ axes, variants }: CompiledBlock): number {
  return combinations(axes) * variants.reduce((sum, variant) => sum + combinations(variant.axes), 0);
}

function combinations(axes: readonly Axis[]): number {
  return axes.reduce((product, { values }) => product * values.length, 1);
}

function inCase(index: number, name: string): string {
  return `(case ${index}) ${name}`;
}

/** Whether the axis has several values, or is drawn from. */
export function varies({ values }: Axis): boolean {
  return values.length !== 1;
}

/** Whether the axis varies between draws. */
function isDrawn(axis: Axis): boolean {
  return varies(axis) && !axis.crossed;
}
