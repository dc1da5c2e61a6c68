import { Environment } from '@marcbachmann/cel-js';
import type { RE2JS } from 're2js';
import { lazy } from '../../../base/lazy.js';
import { isMapValue, type ParameterValue, type Scalar } from '../../../base/scalar.js';
import { compiledPattern, PatternError } from '../../../text/pattern.js';

/** A value inside an expression. CEL's integers are bigints and its doubles are numbers. */
export type CelValue =
  | bigint
  | number
  | string
  | boolean
  | null
  | readonly CelValue[]
  | { readonly [name: string]: CelValue };

/** Length limit of a text in characters. */
const longestText = 1_000_000;

/** Compiled patterns that are reused; few, as each holds an automaton. */
const patterns = new Map<string, RE2JS>();

/**
 * Functions of the library that are replaced, with the names of their replacements: the library does not allow a function to be
 * redefined.
 */
export const instead: ReadonlyMap<string, string> = new Map(
  ['matches', 'join'].map((name) => [name, `${name}Instead`]),
);
/** The inverse map. */
export const ownNames: ReadonlyMap<string, string> = new Map([...instead].map(([name, own]) => [own, name]));

/**
 * CEL with additions for sweep files: integers and doubles mix (`N * 0.5`), numbers join texts (`"B" + bins`), and common functions
 * exist. Integer division is that of CEL: `7 / 2` is 3. Made when the first expression is compiled, as it takes some ms.
 */
export const celEnvironment = lazy(() =>
  withFunctions(
    withMixedArithmetic(new Environment({ unlistedVariablesAreDyn: true, homogeneousAggregateLiterals: false })),
  ),
);

/** Functions of optional values, which do not occur here. */
const ofOptionals = ['hasValue', 'json', 'none', 'of', 'or', 'orValue', 'value'];

/** Names that can be called as `name(…)` or `value.name(…)`. */
export const celFunctions = lazy((): readonly string[] =>
  [
    ...new Set(
      celEnvironment()
        .getDefinitions()
        .functions.map(({ name }) => name),
    ),
  ].filter((name) => !ofOptionals.includes(name) && !ownNames.has(name)),
);

function withMixedArithmetic(environment: Environment): Environment {
  const operators: Record<string, (left: number, right: number) => number> = {
    '+': (left, right) => left + right,
    '-': (left, right) => left - right,
    '*': (left, right) => left * right,
    '/': (left, right) => left / right,
    '%': (left, right) => left % right,
  };
  for (const [sign, operate] of Object.entries(operators)) {
    const mixed = (left: bigint | number, right: bigint | number) => operate(Number(left), Number(right));
    environment.registerOperator(`int ${sign} double: double`, mixed);
    environment.registerOperator(`double ${sign} int: double`, mixed);
  }
  environment.registerOperator('double % double: double', (left: number, right: number) => left % right);
  for (const type of ['int', 'double']) {
    environment.registerOperator(`string + ${type}: string`, join);
    environment.registerOperator(`${type} + string: string`, join);
  }
  return environment;
}

function join(left: string | number | bigint, right: string | number | bigint): string {
  return `${String(left)}${String(right)}`;
}

function withFunctions(environment: Environment): Environment {
  const real: Record<string, (value: number) => number> = {
    log2: Math.log2,
    ln: Math.log,
    exp: Math.exp,
    sqrt: Math.sqrt,
  };
  for (const [name, compute] of Object.entries(real)) {
    environment.registerFunction(`${name}(dyn): double`, (value: CelValue) => compute(Number(numeric(name, value))));
  }
  for (const [name, compute] of Object.entries({ floor: Math.floor, ceil: Math.ceil, round: Math.round })) {
    environment.registerFunction(`${name}(dyn): int`, (value: CelValue) => whole(name, value, compute));
  }
  environment.registerFunction('abs(dyn): dyn', (value: CelValue) => absolute(numeric('abs', value)));
  environment.registerFunction('pow(dyn, dyn): dyn', (base: CelValue, exponent: CelValue) =>
    power(numeric('pow', base), numeric('pow', exponent)),
  );
  environment.registerFunction('string.matchesInstead(string): bool', (text: string, pattern: string) =>
    patternOf(pattern).test(text),
  );
  environment.registerFunction('list<string>.joinInstead(): string', (texts: string[]) => joined(texts, ''));
  environment.registerFunction('list<string>.joinInstead(string): string', joined);
  for (let count = 1; count <= 6; count += 1) {
    const types = Array.from({ length: count }, () => 'dyn').join(', ');
    environment.registerFunction(`min(${types}): dyn`, (...values: CelValue[]) => extreme('min', values));
    environment.registerFunction(`max(${types}): dyn`, (...values: CelValue[]) => extreme('max', values));
  }
  return environment;
}

/** Joins texts within a limit: a list that repeats one long text could otherwise become gigabytes. */
function joined(texts: readonly string[], between: string): string {
  const length = texts.reduce((sum, text) => sum + text.length + between.length, 0);
  if (length > longestText)
    throw new Error(`\`join\` would make more than ${longestText.toLocaleString('en-US')} characters`);
  return texts.join(between);
}

function patternOf(source: string): RE2JS {
  const known = patterns.get(source);
  if (known !== undefined) return known;
  try {
    const pattern = compiledPattern(source);
    if (patterns.size >= 100) patterns.clear();
    patterns.set(source, pattern);
    return pattern;
  } catch (error) {
    if (!(error instanceof PatternError)) throw error;
    throw new Error(`the pattern ${JSON.stringify(source.slice(0, 100))} cannot be used: ${error.message}`, {
      cause: error,
    });
  }
}

function numeric(name: string, value: CelValue): bigint | number {
  if (typeof value === 'bigint' || typeof value === 'number') return value;
  throw new Error(`\`${name}\` needs a number, and was given ${JSON.stringify(value)}`);
}

function whole(name: string, value: CelValue, compute: (value: number) => number): bigint {
  const number = numeric(name, value);
  if (typeof number === 'bigint') return number;
  // CEL's integers have 64 bits.
  if (!(Math.abs(number) < 2 ** 63)) throw new Error(`\`${name}\` of ${number} is not a whole number of 64 bits`);
  return BigInt(compute(number));
}

function absolute(value: bigint | number): bigint | number {
  return value < 0 ? -value : value;
}

/** Integers stay integers as long as the result is exact in a double. */
function power(base: bigint | number, exponent: bigint | number): bigint | number {
  const result = Number(base) ** Number(exponent);
  const exact = typeof base === 'bigint' && typeof exponent === 'bigint' && Number.isSafeInteger(result);
  return exact ? BigInt(result) : result;
}

/** `min` and `max` return one of their arguments, so an integer stays an integer. */
function extreme(name: 'min' | 'max', values: readonly CelValue[]): bigint | number {
  return values
    .map((value) => numeric(name, value))
    .reduce((best, value) => ((name === 'min' ? value < best : value > best) ? value : best));
}

/** A value of one parameter. */
export type Value = ParameterValue;

/** A parameter or metric key as a variable in expressions: every character that is not a letter, digit or _ becomes _. */
export function identifierOf(key: string): string {
  return key.replace(/[^A-Za-z0-9_]/g, '_');
}

/** @param double Whether whole numbers become doubles too, so that `1 / lr` with the values 0.5 and 2 divides as expected. */
export function toCel(value: Value, double: boolean): CelValue {
  if (Array.isArray(value)) return value.map((item) => toCel(item, double));
  if (isMapValue(value))
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, toCel(inner, double)]));
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
