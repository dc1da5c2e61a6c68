import type { Scalar } from '../../base/scalar.js';
import type { Value } from './expression/cel-environment.js';

/** A value as Python's `str()` writes it: `True`, `None`, `[1, 'a']`, `1e-05`. It is what programs get as arguments. */
export function valueText(value: Value): string {
  if (Array.isArray(value)) return `[${value.map(itemText).join(', ')}]`;
  return typeof value === 'string' ? value : itemText(value);
}

function itemText(value: Scalar): string {
  if (value === null) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (typeof value === 'number') return numberText(value);
  const quote = value.includes("'") && !value.includes('"') ? '"' : "'";
  const escaped = value.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
  return `${quote}${quote === "'" ? escaped.replaceAll("'", "\\'") : escaped}${quote}`;
}

/** Both languages write the fewest digits that read back; they differ in when the exponent starts, and how it looks. */
function numberText(value: number): string {
  if (Number.isSafeInteger(value)) return String(value);
  const [digits, power] = value.toExponential().split('e') as [string, string];
  const exponent = Number(power);
  if (exponent >= -4 && exponent < 16) return String(value);
  return `${digits}e${exponent < 0 ? '-' : '+'}${String(Math.abs(exponent)).padStart(2, '0')}`;
}

/** Parameters with others in them, as W&B's configuration has them. */
export type Tree = { readonly [name: string]: Value | Tree };

/** The names of which a parameter's own name is made, for those that are nested in others. */
export type Nesting = ReadonlyMap<string, readonly string[]>;

/** Parameters put back into those they are nested in, in their order. */
export function nestedParameters(parameters: Readonly<Record<string, Value>>, nesting: Nesting): Tree {
  if (nesting.size === 0) return parameters;
  const root: Record<string, Value | Tree> = {};
  for (const [name, value] of Object.entries(parameters)) {
    const path = nesting.get(name) ?? [name];
    const inner = path.slice(0, -1).reduce((tree, part) => {
      if (!Object.hasOwn(tree, part)) tree[part] = {};
      // A value cannot be there: two parameters of one name are refused before.
      return tree[part] as Record<string, Value | Tree>;
    }, root);
    inner[path.at(-1)!] = value;
  }
  return root;
}

/** A value or a map of values as Python's `str()` writes it: `{'lr': 0.1, 'name': 'sgd'}`. */
export function treeText(tree: Tree): string {
  const entries = Object.entries(tree).map(([name, value]) => `${itemText(name)}: ${innerText(value)}`);
  return `{${entries.join(', ')}}`;
}

function innerText(value: Value | Tree): string {
  if (isTree(value)) return treeText(value);
  return Array.isArray(value) ? `[${value.map(itemText).join(', ')}]` : itemText(value);
}

export function isTree(value: Value | Tree): value is Tree {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
