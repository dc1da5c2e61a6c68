import { groupBy } from '../../base/group-by.js';
import { isMapValue, parameterOf, type Parameters, type ParameterValue as WrittenValue } from '../../base/scalar.js';
import { cleanText } from '../../text/display-text.js';
import type { ParameterValue } from '../parameters/factors.js';
import { fisherLog10, gStatistic, type Tally, type TwoByTwo } from './fisher-exact.js';

/** One run that has ended. */
export type EndedRun = { readonly parameters: Parameters; readonly failed: boolean };

/** A property of some runs. The number in a threshold is a value of some run. */
export type Condition =
  | { readonly kind: 'is'; readonly parameter: string; readonly value: ParameterValue }
  | { readonly kind: 'at least' | 'at most'; readonly parameter: string; readonly value: number };

/** Conditions under which runs fail more often than otherwise. */
export type FailureCause = TwoByTwo & {
  /** The one or two conditions that hold together. */
  readonly conditions: readonly Condition[];
  /** Conditions on other parameters that hold for exactly the same runs. */
  readonly aliases: readonly Condition[];
  /** Rate of failure where the conditions hold, divided by that of all runs. */
  readonly lift: number;
  /** log10 of the one-sided p-value of Fisher's exact test, times the number of conditions tried (Bonferroni). At most 0. */
  readonly log10P: number;
};

/** log10 of the probability, times the number of conditions tried, below which a cause is taken as real. */
const SURE = Math.log10(0.05);
/** A single value counts as a condition only with at least so many runs. */
const LEAST_RUNS = 2;

/**
 * Which values of which parameters go with failure, the surest first: one cause per parameter, and pairs that explain more. Empty
 * where chance may explain all. For every parameter each value, and for numbers each threshold in both directions, is tried; the
 * one whose failures are least likely to coincide by chance is its cause.
 *
 * @param runs Without runs that failed of another error, as they did not get far enough.
 */
export function causesOfFailure(runs: readonly EndedRun[]): readonly FailureCause[] {
  return causesOf(
    columnsOf(runs),
    runs.map(({ failed }) => failed),
  );
}

/** A parameter with its runs sorted by their values: numbers ascending, then the others. */
type Column = {
  readonly parameter: string;
  readonly order: readonly number[];
  /** Runs of equal value, in that order: the value, and the range of their indices in `order`, without `to`. */
  readonly blocks: readonly Block[];
};
type Block = { readonly value: ParameterValue; readonly from: number; readonly to: number };

/** The columns of parameters that do not have the same value in all runs. */
function columnsOf(runs: readonly EndedRun[]): Column[] {
  const names = [...new Set(runs.flatMap(({ parameters }) => Object.keys(parameters)))];
  return names
    .map((parameter) => {
      const values = runs.map(({ parameters }) => parameterOf(parameters, parameter));
      const keys = values.map(keyOf);
      const order = [...values.keys()].sort((a, b) => compare(keys[a]!, keys[b]!));
      const blocks: { value: ParameterValue; from: number; to: number }[] = [];
      order.forEach((row, at) => {
        const last = blocks.at(-1);
        if (last === undefined || keys[order[last.from]!] !== keys[row]) {
          blocks.push({ value: values[row], from: at, to: at + 1 });
        } else last.to = at + 1;
      });
      return { parameter, order, blocks };
    })
    .filter(({ blocks }) => blocks.length > 1);
}

/** The key of a value in sorting: a number as it is, anything else as text; a parameter that is not passed comes last. */
function keyOf(value: ParameterValue): number | string {
  if (typeof value === 'number' && !Number.isNaN(value)) return value + 0;
  return value === undefined ? '\uffff' : JSON.stringify(value) + typeof value;
}

function compare(a: number | string, b: number | string): number {
  if (typeof a !== typeof b) return typeof a === 'number' ? -1 : 1;
  return a < b ? -1 : a > b ? 1 : 0;
}

/** A condition that is tried: it holds for the runs in a range of its column's order. */
type Trial = { readonly condition: Condition; readonly from: number; readonly to: number; readonly g: number };

/** Number of conditions of each parameter that are also tried in pairs. */
const KEPT = 4;
/** Limit on the number of pairs. */
const MOST_PAIRS = 3;

function causesOf(columns: readonly Column[], failed: readonly boolean[]): FailureCause[] {
  const failures = rowSet(
    failed.flatMap((is, row) => (is ? [row] : [])),
    failed.length,
  );
  const total = { runs: columns[0]?.order.length ?? 0, failed: sizeOf(failures) };
  if (total.failed === 0 || total.failed === total.runs) return [];
  const kept = columns.map((column) =>
    bestTrials(column, failed, total).map(({ condition, from, to }) =>
      findingOf([condition], rowSet(column.order.slice(from, to), failed.length), failures, total),
    ),
  );
  const tried = columns.reduce((sum, { blocks }) => sum + 3 * blocks.length, 0);
  const single = merged(kept.flatMap((findings) => findings.slice(0, 1)));
  const pairs = pairsOf(kept, failures, total, tried).map((finding) => withTest(finding, tried * tried));
  return [...single.map((finding) => withTest(finding, tried)), ...pairs]
    .filter(({ log10P }) => log10P < SURE)
    .map(({ conditions, aliases, inside, outside, log10P }): FailureCause => {
      return { conditions, aliases, inside, outside, lift: rateOf(inside) / rateOf(total), log10P };
    })
    .sort((a, b) => a.log10P - b.log10P);
}

/** The conditions on a parameter that best separate failures from other runs, the best first. */
function bestTrials(column: Column, failed: readonly boolean[], total: Tally): Trial[] {
  const before = [0];
  for (const row of column.order) before.push(before.at(-1)! + (failed[row] ? 1 : 0));
  const best: Trial[] = [];
  for (const trial of trialsOf(column)) {
    const inside = { runs: trial.to - trial.from, failed: before[trial.to]! - before[trial.from]! };
    const g = gStatistic({ inside, outside: without(total, inside) });
    if (g <= 0 || (best.length === KEPT && g <= best.at(-1)!.g)) continue;
    // Of equally good conditions the simpler one, which is tried first, stays first.
    const place = best.findIndex((other) => other.g < g);
    best.splice(place < 0 ? best.length : place, 0, { ...trial, g });
    best.length = Math.min(best.length, KEPT);
  }
  return best;
}

function* trialsOf({ parameter, blocks }: Column): Generator<Omit<Trial, 'g'>> {
  const numbers = blocks.filter(({ value }) => typeof value === 'number' && !Number.isNaN(value));
  for (const { value, from, to } of blocks) {
    if (to - from >= LEAST_RUNS) yield { condition: { kind: 'is', parameter, value }, from, to };
  }
  const end = numbers.at(-1)?.to ?? 0;
  for (const [index, { from, to }] of numbers.entries()) {
    const value = numbers[index]!.value as number;
    if (index > 0) yield { condition: { kind: 'at least', parameter, value }, from, to: end };
    if (to < end) yield { condition: { kind: 'at most', parameter, value }, from: 0, to };
  }
}

/** Conditions, the runs that meet them, and other conditions that the same runs meet. */
type Finding = TwoByTwo & {
  readonly conditions: readonly Condition[];
  readonly aliases: readonly Condition[];
  readonly rows: RowSet;
};

function findingOf(conditions: readonly Condition[], rows: RowSet, failures: RowSet, total: Tally): Finding {
  const inside = { runs: sizeOf(rows), failed: sizeOf(intersection(rows, failures)) };
  return { conditions, aliases: [], rows, inside, outside: without(total, inside) };
}

function withTest(finding: Finding, tried: number): Finding & { readonly log10P: number } {
  return { ...finding, log10P: Math.min(0, fisherLog10(finding) + Math.log10(tried)) };
}

/** Merges findings of exactly the same runs, as parameters that change together produce them. */
function merged(findings: readonly Finding[]): Finding[] {
  const byRows = groupBy(findings, ({ rows }) => rows.join());
  return [...byRows.values()].map(([first, ...others]): Finding => {
    return { ...first!, aliases: others.flatMap(({ conditions }) => conditions) };
  });
}

/**
 * Pairs of conditions on two parameters, for any two the best one. A pair must be so much surer than each of its conditions that the
 * choice of the other one among all that were tried is no chance.
 */
function pairsOf(kept: readonly (readonly Finding[])[], failures: RowSet, total: Tally, tried: number): Finding[] {
  const pairs = kept.flatMap((firsts, column) =>
    kept.slice(column + 1).flatMap((seconds) => {
      const both = firsts.flatMap((first) => seconds.map((second) => together(first, second, failures, total)));
      return both
        .filter(({ g }) => g > 0)
        .sort((a, b) => b.g - a.g)
        .slice(0, 1);
    }),
  );
  return pairs
    .sort((a, b) => b.g - a.g)
    .slice(0, MOST_PAIRS)
    .filter(({ finding, parts }) => {
      const surest = Math.min(...parts.map(fisherLog10));
      return fisherLog10(finding) + Math.log10(tried) < surest + SURE;
    })
    .map(({ finding }) => finding);
}

function together(first: Finding, second: Finding, failures: RowSet, total: Tally) {
  const conditions = [...first.conditions, ...second.conditions];
  const finding = findingOf(conditions, intersection(first.rows, second.rows), failures, total);
  return { finding, parts: [first, second], g: gStatistic(finding) };
}

function without(total: Tally, { runs, failed }: Tally): Tally {
  return { runs: total.runs - runs, failed: total.failed - failed };
}

function rateOf({ runs, failed }: Tally): number {
  return runs === 0 ? 0 : failed / runs;
}

/** A set of runs, one bit each. */
type RowSet = Uint32Array;

function rowSet(rows: readonly number[], of: number): RowSet {
  const set = new Uint32Array(Math.ceil(of / 32));
  for (const row of rows) set[row >> 5]! |= 1 << (row & 31);
  return set;
}

function intersection(a: RowSet, b: RowSet): RowSet {
  return a.map((word, index) => word & b[index]!);
}

function sizeOf(set: RowSet): number {
  let size = 0;
  for (let word of set) {
    // Bits of pairs, of fours, of bytes (Warren, Hacker's Delight, figure 5-2).
    word -= (word >>> 1) & 0x55555555;
    word = (word & 0x33333333) + ((word >>> 2) & 0x33333333);
    size += Math.imul((word + (word >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
  }
  return size;
}

type Value = Extract<Condition, { kind: 'is' }>;

/** The values that all failed runs have, and not all runs. @param all With the failed ones. */
export function commonValues(failed: readonly Parameters[], all: readonly Parameters[]): Value[] {
  const [first] = failed;
  if (first === undefined) return [];
  return Object.keys(first)
    .map((parameter): Value => ({ kind: 'is', parameter, value: parameterOf(first, parameter) }))
    .filter((value) => failed.every((own) => hasValues(own, [value])) && !all.every((own) => hasValues(own, [value])));
}

/** Whether a run has all of these values. */
export function hasValues(parameters: Parameters, values: readonly Value[]): boolean {
  return values.every(({ parameter, value }) => textOf(parameterOf(parameters, parameter)) === textOf(value));
}

function textOf(value: Value['value']): string | undefined {
  return JSON.stringify(value);
}

/** Conditions as a query accepts them: `batch_size=64 and dim>=128`. */
export function conditionsText(conditions: readonly Condition[]): string {
  return conditions.map(conditionText).join(' and ');
}

function conditionText(condition: Condition): string {
  const name = cleanText(condition.parameter);
  if (condition.kind !== 'is') return `${name}${condition.kind === 'at least' ? '>=' : '<='}${String(condition.value)}`;
  return condition.value === undefined ? `no ${name}` : `${name}=${valueText(condition.value)}`;
}

/** The text of a value; an empty text is quoted, as it would be invisible. */
function valueText(value: WrittenValue): string {
  if (Array.isArray(value)) return `[${value.map(valueText).join(', ')}]`;
  if (isMapValue(value)) return cleanText(JSON.stringify(value));
  return typeof value === 'string' ? cleanText(value) || '""' : String(value);
}

/** `p < 1e-99`, `p = 0.02`. Smaller probabilities are cut off, as they mean nothing more. */
export function chanceText(log10P: number): string {
  if (log10P > -3) return `p = ${(10 ** log10P).toPrecision(1)}`;
  return `p < 1e-${Math.min(99, Math.floor(-log10P))}`;
}
