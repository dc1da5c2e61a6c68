import type { ASTNode } from '@marcbachmann/cel-js';

/** A call that brings a variable in. `source`: what it takes its values from. `body`: the parts that see it. */
export type Binder = {
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
