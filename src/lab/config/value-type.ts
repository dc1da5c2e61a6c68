import { isModulePath } from './own-module.js';

/** A type of value on the command line. */
export type ValueType<T> = {
  /** Name of the type in help texts: `int`, `float or None`. */
  readonly name: string;
  /** Parses the text; undefined when it is not of this type. */
  readonly read: (text: string) => T | undefined;
};

const wholeNumber = /^[+-]?[0-9]+$/;
const anyNumber = /^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)(e[+-]?[0-9]+)?$/i;

/** A whole number from `least` to `most`, both included. */
export function int(least = Number.MIN_SAFE_INTEGER, most = Number.MAX_SAFE_INTEGER): ValueType<number> {
  const read = (text: string) => (wholeNumber.test(text) ? within(Number(text), least, most) : undefined);
  return { name: rangeName('int', least, most), read };
}

/** A finite number of at least `least`. */
export function float(least = -Number.MAX_VALUE): ValueType<number> {
  const read = (text: string) => (anyNumber.test(text) ? within(Number(text), least, Number.MAX_VALUE) : undefined);
  return { name: least === -Number.MAX_VALUE ? 'float' : `float ≥ ${least}`, read };
}

export const bool: ValueType<boolean> = {
  name: 'bool',
  read: (text) => (/^true$/i.test(text) ? true : /^false$/i.test(text) ? false : undefined),
};

export const text: ValueType<string> = { name: 'str', read: (value) => value };

export function oneOf<const T extends string>(values: readonly T[]): ValueType<T> {
  return { name: values.join('|'), read: (value) => values.find((known) => known === value) };
}

/** A name of the list, or the path of a module. */
export function nameOrPath(names: readonly string[]): ValueType<string> {
  const read = (value: string) => (names.includes(value) || isModulePath(value) ? value : undefined);
  return { name: `${names.join('|')} or a path`, read };
}

/** Splits a list at its commas; blanks around names and empty names are dropped. */
export function namesIn(list: string): string[] {
  return list
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
}

/** Some of these names, with commas between them, in brackets or not; `[]` for none of them. */
export function namesOf<const T extends string>(values: readonly T[]): ValueType<readonly T[]> {
  const read = (value: string) => {
    const names = namesIn(value.replace(/^\s*[([](.*)[)\]]\s*$/, '$1')).map((name) =>
      values.find((known) => known === name),
    );
    return names.every((name) => name !== undefined) ? names : undefined;
  };
  return { name: `some of ${values.join(', ')}`, read };
}

/** Whole numbers as a Python tuple or plainly: `(16, 64)`, `16,64`, `16`. At least one. */
export function ints(least = Number.MIN_SAFE_INTEGER): ValueType<readonly number[]> {
  return listOf(int(least));
}

export function floats(least = -Number.MAX_VALUE): ValueType<readonly number[]> {
  return listOf(float(least));
}

function listOf(item: ValueType<number>): ValueType<readonly number[]> {
  const read = (value: string) => {
    const inner = /^\s*[([]?(.*?),?\s*[)\]]?\s*$/.exec(value)![1]!;
    const numbers = inner.split(',').map((part) => item.read(part.trim()));
    return numbers.every((number) => number !== undefined) ? numbers : undefined;
  };
  return { name: `tuple of ${item.name}`, read };
}

export function orNone<T>(type: ValueType<T>): ValueType<T | null> {
  return { name: `${type.name} or None`, read: (value) => (/^([Nn]one|null)$/.test(value) ? null : type.read(value)) };
}

function within(value: number, least: number, most: number): number | undefined {
  return value >= least && value <= most ? value : undefined;
}

function rangeName(name: string, least: number, most: number): string {
  if (least === Number.MIN_SAFE_INTEGER) return name;
  return most === Number.MAX_SAFE_INTEGER ? `${name} ≥ ${least}` : `${name} ${least}–${most}`;
}
