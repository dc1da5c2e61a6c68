import { linearPattern, mostStates } from './linear-pattern.js';
import { atom, longestNumber, sized, type Size } from './value-size.js';

/**
 * What a function's result comes to, from the sizes of its arguments (of a method: its receiver first), and what it takes
 * beyond looking at each of them once. `literals`: arguments that are written out.
 */
export type FunctionBound = {
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
  return typeof pattern === 'string' ? linearPattern(pattern).states : mostStates;
}
