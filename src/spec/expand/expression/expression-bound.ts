/**
 * How much work an expression can be at most, found without evaluating it: steps from its form, sizes of lists and texts
 * from its literals and its variables. What is computed from there on can then neither take long nor fill the memory,
 * because CEL has no loop but over a list.
 *
 * A step is one operation of the evaluator, some 50 ns. Sizes count characters and elements.
 */
import type { ASTNode } from '@marcbachmann/cel-js';
import { atom, functionBounds, joined, type Size, sized, spelt } from './function-bounds.js';

/** The limits of an expression. `steps` of one evaluation; `weight` of one value. */
export type Limits = { readonly steps: number; readonly weight: number };

type Bound = { readonly steps: number; readonly size: Size };

/** A part of an expression is too much work. */
export class TooCostly extends Error {
  override readonly name = 'TooCostly';
  readonly range: { readonly start: number; readonly end: number };

  constructor(problem: string, { range }: Pick<ASTNode, 'range'>) {
    super(problem);
    this.range = range;
  }
}

/** Characters and elements that are looked at in the time of a step. */
const perStep = 16;

/**
 * @param variables How large each is; others are atoms.
 * @throws {TooCostly} With the innermost part that exceeds the limits.
 */
export function boundOf(node: ASTNode, variables: ReadonlyMap<string, Size>, limits: Limits): Bound {
  const found = formed(node, { variables, limits });
  const { steps, size } = found;
  if (steps > limits.steps) {
    throw new TooCostly(`this can take ${amount(steps)} steps, and ${amount(limits.steps)} are the limit`, node);
  }
  if (size.weight <= limits.weight) return found;
  const large = `this can become ${amount(size.weight)} characters and elements large`;
  throw new TooCostly(`${large}, and ${amount(limits.weight)} are the limit`, node);
}

function amount(count: number): string {
  return count < 1e9 ? Math.ceil(count).toLocaleString('en-US') : 'more than a billion';
}

type Context = { readonly variables: ReadonlyMap<string, Size>; readonly limits: Limits };

function inner(node: ASTNode, { variables, limits }: Context): Bound {
  return boundOf(node, variables, limits);
}

/** The bounds of each form of an expression. */
const forms: { readonly [Op in ASTNode['op']]?: (node: Extract<ASTNode, { op: Op }>, context: Context) => Bound } = {
  value: ({ args }) => ({ steps: 1, size: literalSize(args) }),
  id: ({ args }, { variables }) => ({ steps: 1, size: variables.get(args) ?? atom }),
  '.': ({ args: [whole] }, context) => computed([whole], context, itemOf),
  '[]': ({ args }, context) => computed(args, context, itemOf),
  '!_': ({ args }, context) => computed([args], context, () => atom),
  '-_': ({ args }, context) => computed([args], context, () => atom),
  '?:': ({ args }, context) => computed(args, context, ([, left, right]) => joined(left!, right!)),
  list: ({ args }, context) => computed(args, context, (items) => sized(items.length, items.reduce(joined, atom))),
  map: ({ args }, context) => mapped(args, context),
  call: ({ args: [name, parts] }, context) => called(name, parts, context),
  rcall: (node, context) => looped(node, context) ?? called(node.args[0], [node.args[1], ...node.args[2]], context),
  // A sum may be one of numbers, which are shorter than what they are taken for here.
  '+': ({ args }, context) => computed(args, context, ([left, right]) => added(left!, right!), weightOf),
  in: ({ args }, context) => computed(args, context, () => atom, lookUp),
};

function formed(node: ASTNode, context: Context): Bound {
  const form = forms[node.op] as ((node: ASTNode, context: Context) => Bound) | undefined;
  if (form !== undefined) return form(node, context);
  // Every other operator compares, calculates or decides.
  return computed(node.args as [ASTNode, ASTNode], context, () => atom, weightOf);
}

function itemOf([whole]: readonly Size[]): Size {
  return whole!.item ?? atom;
}

function literalSize(value: unknown): Size {
  const isLong = typeof value === 'string' || value instanceof Uint8Array;
  return isLong ? sized(value.length, null) : atom;
}

/** The steps of all parts, and what `size` makes of their sizes. */
function computed(
  parts: readonly ASTNode[],
  context: Context,
  size: (sizes: readonly Size[]) => Size,
  work: (sizes: readonly Size[]) => number = () => 0,
): Bound {
  const bounds = parts.map((part) => inner(part, context));
  const sizes = bounds.map((bound) => bound.size);
  const result = size(sizes);
  const steps = bounds.reduce((sum, bound) => sum + bound.steps, 2 + work(sizes));
  return { steps, size: result };
}

function mapped(entries: readonly (readonly [ASTNode, ASTNode])[], context: Context): Bound {
  const parts = entries.flat();
  const size = (sizes: readonly Size[]) =>
    sized(
      entries.length,
      sizes.reduce((all, each, index) => joined(all, index % 2 === 0 ? spelt(each) : each), atom),
    );
  return computed(parts, context, size, (sizes) => total(sizes.map(spelt)) / perStep);
}

function added(left: Size, right: Size): Size {
  const item = left.item === null ? right.item : right.item === null ? left.item : joined(left.item, right.item);
  const [first, second] = [spelt(left), spelt(right)];
  if (item === null) return sized(first.length + second.length, null);
  const length = left.length + right.length;
  return { length: Math.max(length, first.length + second.length), item, weight: left.weight + right.weight + 50 };
}

/** Each item is compared with the whole of the value. */
function lookUp([value, list]: readonly Size[]): number {
  return list!.length + (list!.weight + Math.max(1, list!.length) * value!.weight) / perStep;
}

function weightOf(sizes: readonly Size[]): number {
  return total(sizes) / perStep;
}

function total(sizes: readonly Size[]): number {
  return sizes.reduce((sum, { weight }) => sum + weight, 0);
}

function called(name: string, parts: readonly ASTNode[], context: Context): Bound {
  const { size, steps } = functionBounds.get(name) ?? { size: () => atom };
  const literals = parts.map((part) => (part.op === 'value' ? part.args : undefined));
  return computed(parts, context, size, (sizes) => weightOf(sizes) + (steps?.(sizes, literals) ?? 0));
}

/** The macros that evaluate a part once for each item, and `cel.bind`; null for any other call. */
function looped(node: Extract<ASTNode, { op: 'rcall' }>, { variables, limits }: Context): Bound | null {
  const binder = binderOf(node);
  if (binder === null) return null;
  const source = boundOf(binder.source, variables, limits);
  const { length, item, weight } = source.size;
  const variable = binder.name === 'bind' ? source.size : (item ?? atom);
  const within = new Map([...variables, [binder.variable, variable]]);
  const bounds = binder.body.map((part) => boundOf(part, within, limits));
  const result = bounds.at(-1)?.size ?? atom;
  const times = binder.name === 'bind' ? 1 : Math.max(1, length);
  const steps = source.steps + 4 + times * bounds.reduce((sum, bound) => sum + bound.steps, 4);
  if (binder.name === 'bind') return { steps, size: result };
  if (binder.name === 'map') return { steps, size: sized(times, result) };
  return { steps, size: binder.name === 'filter' ? { length: times, item: variable, weight } : atom };
}

/** A call that brings a variable in. `source`: what it takes its values from. `body`: the parts that see it. */
type Binder = {
  readonly name: string;
  readonly variable: string;
  readonly source: ASTNode;
  readonly body: readonly ASTNode[];
};

/** Macros whose first argument is a variable of their own, and how many arguments they have. */
const binders: ReadonlyMap<string, readonly number[]> = new Map([
  ['all', [2]],
  ['exists', [2]],
  ['exists_one', [2]],
  ['map', [2, 3]],
  ['filter', [2]],
]);

/** null: the call is none of `list.all(x, …)` and the like, nor `cel.bind(x, value, …)`. */
export function binderOf(node: ASTNode): Binder | null {
  if (node.op !== 'rcall') return null;
  const [name, receiver, [first, ...others]] = node.args;
  if (first?.op !== 'id') return null;
  const variable = first.args;
  if (isNamespace(receiver)) return name === 'bind' ? bind(variable, others) : null;
  const isMacro = binders.get(name)?.includes(1 + others.length) ?? false;
  return isMacro ? { name, variable, source: receiver, body: others } : null;
}

function isNamespace(node: ASTNode): boolean {
  return node.op === 'id' && node.args === 'cel';
}

function bind(variable: string, [source, ...body]: readonly ASTNode[]): Binder | null {
  return source === undefined || body.length !== 1 ? null : { name: 'bind', variable, source, body };
}
