import type { Scalar } from '../../base/scalar.js';
import type { Value } from './expression/cel-value.js';

/** A value as Python's `str()` writes it: `True`, `None`, `[1, 'a']`, `1e-05`. It is what programs get as arguments. */
export function valueText(value: Value): string {
  if (Array.isArray(value)) return `[${value.map(itemText).join(', ')}]`;
  return typeof value === 'string' ? value : itemText(value);
}

export function itemText(value: Scalar): string {
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
