import { compiledPattern, mostStates } from '../../../text/pattern.js';

/** A number, a truth value, null. As a text it is at most this long. */
export const atom: Size = { length: 0, item: null, weight: 1 };
const longestNumber = 25;

/**
 * How large a function's result is, from the sizes of its arguments (of a method: its receiver first), and what it takes
 * beyond looking at each of them once. `literals`: arguments that are written out.
 */
type FunctionBound = {
  readonly size: (sizes: readonly Size[]) => Size;
  readonly steps?: (sizes: readonly Size[], literals: readonly unknown[]) => number;
};

const toAtom: FunctionBound = { size: () => atom };
const toText = (length: (of: Size) => number): FunctionBound => ({ size: ([of]) => sized(length(of!), null) });
/** Looking for one text in another compares, at worst, each character of one with each of the other. */
const search = ([text, other]: readonly Size[]): number => (lengthOf(text) * lengthOf(other)) / 64;
/** What a date in another time zone takes. */
const inZone: FunctionBound = { size: () => atom, steps: (sizes) => (sizes.length > 1 ? 1000 : 5) };

const names = (text: string, bound: FunctionBound): [string, FunctionBound][] =>
  text.split(' ').map((name) => [name, bound]);

/** Every function that an expression may call; what has no bound here cannot be called. */
export const functionBounds: ReadonlyMap<string, FunctionBound> = new Map<string, FunctionBound>([
  ...names('abs ceil exp floor ln log2 max min pow round sqrt', toAtom),
  ...names('at bool double has int size type uint timestamp', toAtom),
  ...names('all exists exists_one', toAtom),
  ...names('startsWith endsWith', toAtom),
  ...names('contains indexOf lastIndexOf', { size: () => atom, steps: search }),
  ...names('dyn filter map bind', { size: ([of]) => of ?? atom }),
  ...names('trim substring', { size: ([of]) => of! }),
  ...names(
    'string',
    toText(({ length }) => Math.max(length, longestNumber)),
  ),
  ...names(
    'bytes lowerAscii upperAscii',
    toText(({ length }) => 3 * Math.max(length, longestNumber)),
  ),
  ...names(
    'hex base64',
    toText(({ length }) => 2 * length + 4),
  ),
  ['join', { size: ([list, between]) => sized(list!.weight + list!.length * lengthOf(between), null) }],
  ['split', { size: ([text]) => split(text!), steps: search }],
  ...names('matches matchesInOnePass', { size: () => atom, steps: matching }),
  ['duration', { size: () => atom, steps: ([text]) => lengthOf(text) ** 3 / 64 }],
  ...names('getDate getDayOfMonth getDayOfWeek getDayOfYear getFullYear getHours', inZone),
  ...names('getMilliseconds getMinutes getMonth getSeconds', inZone),
]);

/** An argument that may be a number is as long as one. */
function lengthOf(size: Size | undefined): number {
  return size === undefined ? 0 : Math.max(size.length, longestNumber);
}

function split({ length }: Size): Size {
  return { length: length + 1, item: sized(length, null), weight: 2 * length + 3 };
}

function matching([text]: readonly Size[], [, pattern]: readonly unknown[]): number {
  return ((lengthOf(text) + 1) * statesOf(pattern)) / 4;
}

/** A pattern that is written out was found to be one. */
function statesOf(pattern: unknown): number {
  return typeof pattern === 'string' ? compiledPattern(pattern).programSize() : mostStates;
}

/** A value inside an expression. CEL's integers are bigints and its doubles are numbers. */
export type CelValue =
  bigint | number | string | boolean | null | readonly CelValue[] | { readonly [name: string]: CelValue };

/**
 * An upper bound on a value. `length`: characters of a text, items of a list, entries of a map. `item`: of the largest
 * item; null where there can be none. `weight`: all characters and items within, and never less than that of one item,
 * so that what an empty list would hold counts too (its type is as large).
 */
export type Size = { readonly length: number; readonly item: Size | null; readonly weight: number };

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
  if (typeof value !== 'object' || value === null) return atom;
  const items: CelValue[] = Object.values(value);
  return sized(
    items.length,
    items.reduce<Size>((all, item) => joined(all, sizeOf(item)), atom),
  );
}

/** Whether a value is no larger than a number as a text is. */
export function isAtomic(value: CelValue | undefined): boolean {
  if (typeof value === 'string') return value.length <= longestNumber;
  return typeof value !== 'object' || value === null;
}
