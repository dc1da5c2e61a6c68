import { isMapValue, type Scalar } from '../../base/scalar.js';
import type { Value } from './expression/cel-environment.js';

/** How numbers of a parameter are written in the file, by parameter: `0.0` equals 0 in JavaScript, but not for every program. */
export type Writing = ReadonlyMap<string, ReadonlyMap<number, string>>;

/** A value as Python's `str()` writes it: `True`, `None`, `[1, 'a']`, `{'lr': 1e-05}`. */
export function valueText(value: Value): string {
  return writtenText(value, asPython);
}

const asPython: ReadonlyMap<number, string> = new Map();

/** Like `valueText`, but numbers keep their notation in the file. Programs get this text as an argument. */
export function writtenText(value: Value, written: ReadonlyMap<number, string> = asPython): string {
  return typeof value === 'string' ? value : reprText(value, written);
}

/** A value as Python's `repr()` writes it, with texts in quotes. */
function reprText(value: Value, written: ReadonlyMap<number, string>): string {
  if (Array.isArray(value)) return `[${value.map((item) => reprText(item, written)).join(', ')}]`;
  if (!isMapValue(value)) return scalarText(value, written);
  return `{${Object.entries(value)
    .map(([name, inner]) => `${scalarText(name, written)}: ${reprText(inner, written)}`)
    .join(', ')}}`;
}

function scalarText(value: Scalar, written: ReadonlyMap<number, string>): string {
  if (value === null) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (typeof value === 'number') return written.get(value) ?? numberText(value);
  const quote = value.includes("'") && !value.includes('"') ? '"' : "'";
  const escaped = value.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
  return `${quote}${quote === "'" ? escaped.replaceAll("'", "\\'") : escaped}${quote}`;
}

/**
 * A number as Python writes it. Both languages write the fewest digits that read back; they differ in the range and form of the
 * exponent.
 */
export function numberText(value: number): string {
  if (Number.isSafeInteger(value)) return String(value);
  const [digits, power] = value.toExponential().split('e') as [string, string];
  const exponent = Number(power);
  if (exponent >= -4 && exponent < 16) return String(value);
  return `${digits}e${exponent < 0 ? '-' : '+'}${String(Math.abs(exponent)).padStart(2, '0')}`;
}

/** For each nested parameter, the names of its path. */
export type Nesting = ReadonlyMap<string, readonly string[]>;

/** Nested parameters put back into their outer maps, in their order. */
export function nestedParameters(
  parameters: Readonly<Record<string, Value>>,
  nesting: Nesting,
): Readonly<Record<string, Value>> {
  if (nesting.size === 0) return parameters;
  const root: Record<string, Value> = {};
  for (const [name, value] of Object.entries(parameters)) {
    const path = nesting.get(name) ?? [name];
    const inner = path.slice(0, -1).reduce((map, part) => {
      if (!Object.hasOwn(map, part)) map[part] = {};
      // The place is free: two parameters of the same name were refused before.
      return map[part] as Record<string, Value>;
    }, root);
    inner[path.at(-1)!] = value;
  }
  return root;
}
