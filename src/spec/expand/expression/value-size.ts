import type { CelValue } from './cel-environment.js';

/**
 * An upper bound on a value. `length`: characters of a text, items of a list, entries of a map. `item`: of the largest
 * item; null where there can be none. `weight`: all characters and items within, and never less than that of one item,
 * so that what an empty list would hold counts too (its type is as large).
 */
export type Size = { readonly length: number; readonly item: Size | null; readonly weight: number };

/** A number, a truth value, null. As a text it is at most this long. */
export const atom: Size = { length: 0, item: null, weight: 1 };
export const longestNumber = 25;

export function sized(length: number, item: Size | null): Size {
  return { length, item, weight: 1 + (item === null ? length : Math.max(1, length) * item.weight) };
}

/** As large as the larger of the two, in every way. */
export function joined(left: Size, right: Size): Size {
  if (left === right || right === atom) return left;
  if (left === atom) return right;
  const item = left.item === null || right.item === null ? (left.item ?? right.item) : joined(left.item, right.item);
  return { length: Math.max(left.length, right.length), item, weight: Math.max(left.weight, right.weight) };
}

/** The value as a text. */
export function spelt({ length, item, weight }: Size): Size {
  return sized(item === null ? Math.max(length, longestNumber) : weight * (longestNumber + 1), null);
}

/** Of a variable that has this value. */
export function sizeOf(value: CelValue): Size {
  if (typeof value === 'string') return sized(value.length, null);
  if (!Array.isArray(value)) return atom;
  return sized(
    value.length,
    value.reduce<Size>((all, item: CelValue) => joined(all, sizeOf(item)), atom),
  );
}

/** Whether a value is no larger than a number as a text is. */
export function isAtomic(value: CelValue | undefined): boolean {
  if (typeof value === 'string') return value.length <= longestNumber;
  return typeof value !== 'object' || value === null;
}
