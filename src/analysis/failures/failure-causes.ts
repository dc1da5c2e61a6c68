import { groupBy } from '../../base/group-by.js';
import { parameterOf, type Parameters } from '../../base/scalar.js';
import type { ParameterValue } from '../parameters/factors.js';
import { fisherLog10, gStatistic, type Tally, type TwoByTwo } from './fisher-exact.js';

/** One run that has ended. */
export type EndedRun = { readonly parameters: Parameters; readonly failed: boolean };

/** What is true of some runs. The number of a threshold is one that was tried. */
export type Condition =
  | { readonly kind: 'is'; readonly parameter: string; readonly value: ParameterValue }
  | { readonly kind: 'at least' | 'at most'; readonly parameter: string; readonly value: number };

/** Conditions under which runs fail more often than without them. */
export type FailureCause = TwoByTwo & {
  /** One, or two that hold together. */
  readonly conditions: readonly Condition[];
  /** Conditions on other parameters that are true of exactly the same runs. */
  readonly aliases: readonly Condition[];
  /** Rate of failure inside over the rate of all runs. */
  readonly lift: number;
  /** log10 of the one-sided p-value of Fisher's exact test, times the number of conditions tried (Bonferroni). At most 0. */
  readonly log10P: number;
};

/** Probability, times the number of conditions tried, below which a cause is not put down to chance. */
const SURE = Math.log10(0.05);
/** A condition on a single value of which there are fewer runs tells nothing. */
const LEAST_RUNS = 2;

/**
 * Which values of which parameters go with failure, the surest first; one cause per parameter, and pairs that tell more. None
 * where chance may be all. For every parameter each value, and for numbers each threshold in both directions, is tried; the one
 * under which failures are least likely to have come together by chance is its cause.
 *
 * @param runs Without those that failed of something else: they never got as far.
 */
export function causesOfFailure(runs: readonly EndedRun[]): readonly FailureCause[] {
  return causesOf(
    columnsOf(runs),
    runs.map(({ failed }) => failed),
  );
}

/** A parameter with its runs in the order of their values: numbers rising, then the others. */
type Column = {
  readonly parameter: string;
  readonly order: readonly number[];
  /** Of the runs of equal value, in that order: the value, and where they begin and end. */
  readonly blocks: readonly Block[];
};
type Block = { readonly value: ParameterValue; readonly from: number; readonly to: number };

/** Parameters that do not have the same value in all runs. */
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

/** Numbers as they are, all else as text; what is not passed as the last of them. */
function keyOf(value: ParameterValue): number | string {
  if (typeof value === 'number' && !Number.isNaN(value)) return value + 0;
  return value === undefined ? '\uffff' : JSON.stringify(value) + typeof value;
}

function compare(a: number | string, b: number | string): number {
  if (typeof a !== typeof b) return typeof a === 'number' ? -1 : 1;
  return a < b ? -1 : a > b ? 1 : 0;
}

/** A condition that is tried: true of the runs between two places in the order of its column. */
type Trial = { readonly condition: Condition; readonly from: number; readonly to: number; readonly g: number };

/** Conditions of each parameter that are tried in pairs as well. */
const KEPT = 4;
/** Pairs that are told of at most, and how much surer (log10) than each of their conditions they must be. */
const MOST_PAIRS = 3;
const CLEARLY = 3;

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
  const pairs = pairsOf(kept, failures, total).map((finding) => withTest(finding, tried * tried));
  return [...single.map((finding) => withTest(finding, tried)), ...pairs]
    .filter(({ log10P }) => log10P < SURE)
    .map(({ conditions, aliases, inside, outside, log10P }): FailureCause => {
      return { conditions, aliases, inside, outside, lift: rateOf(inside) / rateOf(total), log10P };
    })
    .sort((a, b) => a.log10P - b.log10P);
}

/** The conditions on a parameter that tell most failures from other runs, the best first. */
function bestTrials(column: Column, failed: readonly boolean[], total: Tally): Trial[] {
  const before = [0];
  for (const row of column.order) before.push(before.at(-1)! + (failed[row] ? 1 : 0));
  const best: Trial[] = [];
  for (const trial of trialsOf(column)) {
    const inside = { runs: trial.to - trial.from, failed: before[trial.to]! - before[trial.from]! };
    const g = gStatistic({ inside, outside: without(total, inside) });
    if (g <= 0 || (best.length === KEPT && g <= best.at(-1)!.g)) continue;
    // After those alike: what is simpler is tried first.
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

/** Parameters that change together give conditions of the same runs: these are one finding. */
function merged(findings: readonly Finding[]): Finding[] {
  const byRows = groupBy(findings, ({ rows }) => rows.join());
  return [...byRows.values()].map(([first, ...others]): Finding => {
    return { ...first!, aliases: others.flatMap(({ conditions }) => conditions) };
  });
}

/** Pairs of conditions on two parameters that are much surer than either alone; the best of each two parameters. */
function pairsOf(kept: readonly (readonly Finding[])[], failures: RowSet, total: Tally): Finding[] {
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
      return fisherLog10(finding) < surest - CLEARLY;
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

/** Some of the runs, a bit for each. */
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
