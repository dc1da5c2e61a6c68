import type { CelValue } from './expression/cel-environment.js';
import type { Value } from './expression/cel-value.js';
import type { Axis, AxisValue, CompiledBlock, Variant } from './compiled-block.js';
import { unitPoints } from './sampling/unit-points.js';

/** A setting of all axes, before anything is computed from it. Its own: whoever gets it may change it. */
export type Combination = {
  readonly variant: Variant;
  readonly variables: Record<string, CelValue>;
  readonly values: Record<string, Value>;
};

/** The block's axes in order, then the cases, then a case's own axes; the last varies fastest. */
export function visitGrid(compiled: CompiledBlock, visit: (combination: Combination) => void): void {
  const outer: Omit<Combination, 'variant'> = { variables: {}, values: {} };
  walk(compiled.axes, outer, () => {
    for (const variant of compiled.variants) {
      const inner = { variables: { ...outer.variables }, values: { ...outer.values } };
      walk(variant.axes, inner, () => {
        visit({ variant, variables: { ...inner.variables }, values: { ...inner.values } });
      });
    }
  });
}

/** Sets the axes one by one, in place, and calls `visit` at each full setting. */
function walk(axes: readonly Axis[], setting: Omit<Combination, 'variant'>, visit: () => void): void {
  const [axis, ...rest] = axes;
  if (axis === undefined) return visit();
  for (const value of axis.values) {
    set(setting, axis, value);
    walk(rest, setting, visit);
  }
}

function set({ variables, values }: Omit<Combination, 'variant'>, axis: Axis, [value, cel]: AxisValue): void {
  variables[axis.identifier] = cel;
  values[axis.name] = value;
}

/** What tells the case that a point belongs to from the parameters; no parameter's name has a bracket. */
const caseDimension = '(case)';

/**
 * Draws combinations until `take` has taken as many as asked for. One that it refuses (it is there already, or is left out)
 * is replaced by another draw, but for `lhs`, whose draws belong together; tries are limited.
 */
export function visitDraws(compiled: CompiledBlock, take: (combination: Combination) => boolean): void {
  const { content: method } = compiled.block.method;
  if (method.kind === 'grid' || method.cap === null) return;
  const dimensions = dimensionsOf(compiled);
  const point = unitPoints(method.kind, method.seed, { dimensions, count: method.cap });
  const places = new Map(dimensions.map((name, index) => [name, index]));
  const tries = method.kind === 'lhs' ? method.cap : 20 * method.cap + 1000;
  for (let index = 0, taken = 0; index < tries && taken < method.cap; index += 1) {
    const combination = drawn(compiled, (name) => point(index, places.get(name)!));
    if (take(combination)) taken += 1;
  }
}

/** Names of what varies: the block's axes, the case, and the axes of each case. */
export function dimensionsOf({ axes, variants }: CompiledBlock): string[] {
  return [
    ...axes.filter(varies).map(({ name }) => name),
    ...(variants.length > 1 ? [caseDimension] : []),
    ...variants.flatMap((variant, index) => variant.axes.filter(varies).map(({ name }) => inCase(index, name))),
  ];
}

function drawn({ axes, variants }: CompiledBlock, at: (dimension: string) => number): Combination {
  const setting = { variables: {}, values: {} };
  for (const axis of axes) set(setting, axis, varies(axis) ? axis.draw(at(axis.name)) : axis.values[0]!);
  const index = variants.length > 1 ? Math.floor(at(caseDimension) * variants.length) : 0;
  const variant = variants[index]!;
  for (const axis of variant.axes) {
    set(setting, axis, varies(axis) ? axis.draw(at(inCase(index, axis.name))) : axis.values[0]!);
  }
  return { variant, ...setting };
}

function inCase(index: number, name: string): string {
  return `(case ${index}) ${name}`;
}

function varies({ values }: Axis): boolean {
  return values.length !== 1;
}
