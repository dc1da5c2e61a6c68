import type { Scalar } from '../../../base/scalar.js';
import type { CelValue } from './cel-environment.js';

/** A value of one parameter. */
export type Value = Scalar | Scalar[];

/** A parameter or metric key as a variable in expressions: every character that is not a letter, digit or _ becomes _. */
export function identifierOf(key: string): string {
  return key.replace(/[^A-Za-z0-9_]/g, '_');
}

/** @param double Whether whole numbers are doubles too, so that `1 / lr` with the values 0.5 and 2 divides as expected. */
export function toCel(value: Value, double: boolean): CelValue {
  if (Array.isArray(value)) return value.map((item) => toCel(item, double));
  if (typeof value === 'number') return !double && Number.isSafeInteger(value) ? BigInt(value) : value;
  return value;
}

/**
 * The value of an expression as a parameter.
 *
 * @returns null when it cannot be one: a map, a nested list, a number that is not finite or too large to be exact.
 */
export function fromCel(value: CelValue): { value: Value } | null {
  if (!Array.isArray(value)) return scalarFromCel(value as Exclude<CelValue, readonly CelValue[]>);
  const items = value.map((item: CelValue) =>
    Array.isArray(item) ? null : scalarFromCel(item as Exclude<CelValue, readonly CelValue[]>),
  );
  return items.every((item) => item !== null) ? { value: items.map((item) => item.value) } : null;
}

function scalarFromCel(value: Exclude<CelValue, readonly CelValue[]>): { value: Scalar } | null {
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? { value: Number(value) } : null;
  if (typeof value === 'number') return Number.isFinite(value) ? { value } : null;
  return value === null || typeof value === 'string' || typeof value === 'boolean' ? { value } : null;
}
