import { parameterOf, type Parameters } from '../../base/scalar.js';

/** The value of a parameter in one run; undefined: it is not passed. */
export type ParameterValue = Parameters[string] | undefined;

/** One value of a parameter, or a range of neighbouring numbers. Both ends of a range are values of runs. */
export type Level =
  | { readonly kind: 'value'; readonly value: ParameterValue }
  | { readonly kind: 'range'; readonly low: number; readonly high: number };

/** A parameter as a categorical variable for statistics: a level per run. */
export type Factor = {
  readonly name: string;
  /** Parameters that always change together with this one, so that their effects cannot be told apart. */
  readonly aliases: readonly string[];
  /** Whether the levels have an order: numbers do, with other values (`auto`, not passed) after them. */
  readonly isOrdered: boolean;
  /** At least two levels. */
  readonly levels: readonly Level[];
  /** Index of the level, for each run. */
  readonly codes: Uint8Array;
  /** Number of runs that pass the parameter. */
  readonly passed: number;
};

/** Why a parameter is not among the factors. */
export type LeftOut = { readonly name: string; readonly reason: 'one value' | 'too many texts' };

type Factors = { readonly factors: readonly Factor[]; readonly leftOut: readonly LeftOut[] };

/**
 * The levels of a set are bits of a number, so there may be no more. More different numbers are grouped into ranges; a parameter
 * with more different texts is left out.
 */
const MOST_LEVELS = 31;

/**
 * Finds the parameters that vary over the runs, sorted by name so that the order of the runs does not matter. Yields before each
 * parameter.
 *
 * @param without Names that are left out: seeds.
 */
export function* factorSteps(rows: readonly Parameters[], without: ReadonlySet<string>): Generator<0, Factors> {
  const names = [...parameterNames(rows)].filter((name) => !without.has(name)).sort();
  const factors = new Map<string, Factor>();
  const leftOut: LeftOut[] = [];
  for (const name of names) {
    yield 0;
    const column = rows.map((row) => parameterOf(row, name));
    const levels = levelsOf(column);
    if (levels === null) leftOut.push({ name, reason: 'too many texts' });
    else if (levels.different < 2) leftOut.push({ name, reason: 'one value' });
    else {
      const factor = factorFrom(name, column, levels);
      const pattern = patternOf(column, factor, levels);
      const same = factors.get(pattern);
      factors.set(pattern, same === undefined ? factor : { ...same, aliases: [...same.aliases, name] });
    }
  }
  return { factors: [...factors.values()], leftOut };
}

/** The names of all parameters that any run passes, in the order of first appearance. */
export function parameterNames(rows: readonly Parameters[]): Set<string> {
  const names = new Set<string>();
  for (const row of rows) for (const name in row) if (Object.hasOwn(row, name)) names.add(name);
  return names;
}

/** `numbers`: the lowest number of each numeric level. `others`: the level of any other value, by its text. */
type Levels = {
  readonly levels: readonly Level[];
  readonly numbers: readonly number[];
  readonly others: ReadonlyMap<string, number>;
  /** Number of different values. */
  readonly different: number;
};

/** The levels of a column: numbers by size, then other values by their text; null where there are too many of those. */
function levelsOf(column: readonly ParameterValue[]): Levels | null {
  const numbers = differentNumbers(column);
  const others = new Map<string, ParameterValue>();
  for (const value of column) if (!isNumber(value)) others.set(textOf(value), value);
  if (others.size > MOST_LEVELS - Math.min(numbers.length, 2)) return null;
  const bands = numberBands(numbers, MOST_LEVELS - others.size);
  const texts = [...others.keys()].sort();
  return {
    levels: [...bands.map(bandLevel), ...texts.map((text): Level => ({ kind: 'value', value: others.get(text) }))],
    numbers: bands.map(([first]) => first!),
    others: new Map(texts.map((text, index) => [text, bands.length + index])),
    different: numbers.length + others.size,
  };
}

function isNumber(value: ParameterValue): value is number {
  return typeof value === 'number' && !Number.isNaN(value);
}

/** The different numbers, ascending. */
function differentNumbers(column: readonly ParameterValue[]): number[] {
  return [...new Set(Float64Array.from(column.filter(isNumber)).sort())];
}

/** Divides numbers into at most `most` ranges with equally many different numbers each. */
function numberBands(sorted: readonly number[], most: number): number[][] {
  const count = Math.min(most, sorted.length);
  return Array.from({ length: count }, (_, band) =>
    sorted.slice(Math.floor((band * sorted.length) / count), Math.floor(((band + 1) * sorted.length) / count)),
  );
}

function bandLevel(band: readonly number[]): Level {
  return band.length === 1 ? { kind: 'value', value: band[0] } : { kind: 'range', low: band[0]!, high: band.at(-1)! };
}

/** The text of a value that is not a number; sorted last where the parameter is not passed. */
function textOf(value: ParameterValue): string {
  return value === undefined ? '\uffff' : typeof value === 'string' ? `"${value}` : JSON.stringify(value);
}

function factorFrom(name: string, column: readonly ParameterValue[], { levels, numbers, others }: Levels): Factor {
  const codes = Uint8Array.from(column, (value) =>
    isNumber(value) ? lastAtMost(numbers, value) : others.get(textOf(value))!,
  );
  const passed = column.filter((value) => value !== undefined).length;
  return { name, aliases: [], isOrdered: numbers.length > 2, levels, codes, passed };
}

/** Index of the last number that is not above the value. */
function lastAtMost(rising: readonly number[], value: number): number {
  let [low, high] = [0, rising.length - 1];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (rising[middle]! <= value) low = middle;
    else high = middle - 1;
  }
  return low;
}

/**
 * A key that is equal for parameters that always change together: each value of one goes with one value of the other. Where most
 * runs have a value of their own, that holds for any two parameters; they must then rise together as well.
 */
function patternOf(column: readonly ParameterValue[], { codes }: Factor, { different }: Levels): string {
  if (2 * different > column.length) return `rising ${codes.join()}`;
  const known = new Map<ParameterValue, number>();
  const keys = column.map((value) => (typeof value === 'object' && value !== null ? textOf(value) : value));
  for (const key of keys) if (!known.has(key)) known.set(key, known.size);
  return keys.map((key) => known.get(key)!).join();
}
