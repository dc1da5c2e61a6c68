import type { Interval } from '../../../analysis/bootstrap.js';
import { besideExamples, bitsEstimate, comparisons, type Estimate, rowIntervals } from '../memory/intervals.js';
import { wilson95 } from '../proportion.js';
import {
  difference,
  type MeanEstimate,
  meanEstimate,
  type Measured,
  type Result,
  resultsOf,
} from '../../../analysis/study/metric-intervals.js';
import type { MemorySection } from '../memory/sections.js';
import type { MemoryRow } from '../memory/summary.js';
import { scalings } from '../memory/scaling.js';
import { settingText } from '../../../analysis/cells.js';

/** Results of a group of a sweep: secrets memorised, or metrics by setting. */
export type ClaimSection =
  | ({ readonly kind: 'memory' } & Pick<MemorySection, 'group' | 'rows'>)
  | { readonly kind: 'metrics'; readonly group: string; readonly rows: readonly MeasuredRow[] };

/** A setting, and the values of metrics of each of its runs. */
type MeasuredRow = {
  readonly title: string | null;
  readonly varies: Readonly<Record<string, unknown>>;
  readonly results: Measured;
};

/** A measured value. `interval`: null when none is known. */
export type Quantity = { readonly value: number; readonly interval: Interval | null; readonly n: number | null };

/**
 * Selects a row of the memory tables. `group`: group of the row; without it, the first match counts. `extra`: values
 * that other parameters must have if the row has them.
 */
export type RowKey = {
  readonly condition: string;
  readonly N: number;
  readonly bins?: number;
  readonly extra?: Readonly<Record<string, unknown>>;
  readonly group?: string;
};

/** A quantity that is computed from the runs of a sweep. */
export type Measure =
  | { readonly kind: 'bits' | 'memorised' | 'took/told'; readonly row: RowKey }
  | { readonly kind: 'episodes over examples' | 'updates over updates'; readonly of: RowKey; readonly over: RowKey }
  | { readonly kind: 'ratio'; readonly of: RowKey; readonly over: RowKey }
  | { readonly kind: 'exponent'; readonly condition: string; readonly bins?: number }
  | { readonly kind: 'mean'; readonly group: string; readonly setting?: string; readonly metric: string }
  | ({ readonly kind: 'difference'; readonly group: string; readonly metric: string } & Settings);

/** Two settings of a group, by runs of the same seeds. */
type Settings = { readonly of: string; readonly less: string };

/** Computes the measure; null when these runs do not have it, or not yet. */
export function computeMeasure(measure: Measure, sections: readonly ClaimSection[]): Quantity | null {
  const rows = sections.flatMap((section) => (section.kind === 'memory' ? section.rows : []));
  switch (measure.kind) {
    case 'bits':
    case 'memorised':
    case 'took/told':
      return ofRow(measure.kind, find(rows, measure.row));
    case 'episodes over examples':
    case 'updates over updates':
      return besideOf(measure, rows);
    case 'ratio':
      return ratioOf(measure, rows);
    case 'exponent':
      return exponentOf(measure, sections);
    case 'mean':
      return ofMean(meanEstimate(valuesOf(measure, measure.setting, sections)));
    case 'difference': {
      const { of, less } = measure;
      return ofMean(difference(valuesOf(measure, of, sections), valuesOf(measure, less, sections)));
    }
  }
}

function ofRow(kind: 'bits' | 'memorised' | 'took/told', row: MemoryRow | undefined): Quantity | null {
  if (row === undefined || row.judged.length === 0) return null;
  if (kind === 'bits') return quantity(bitsEstimate(row));
  if (kind === 'took/told') return quantity(rowIntervals([row], [])[0]!.ratio);
  const { memorised } = row.counts;
  const n = row.judged.length;
  return { value: memorised / n, interval: wilson95(memorised, n), n };
}

function besideOf(
  { kind, of, over }: Extract<Measure, { kind: 'episodes over examples' | 'updates over updates' }>,
  rows: readonly MemoryRow[],
): Quantity | null {
  const pair = [find(rows, of), find(rows, over)].flatMap((row) => row ?? []);
  const [found] = besideExamples(pair);
  return quantity((kind === 'updates over updates' ? found?.updates : found?.episodes) ?? null);
}

function ratioOf({ of, over }: Extract<Measure, { kind: 'ratio' }>, rows: readonly MemoryRow[]): Quantity | null {
  const [one, other] = [find(rows, over), find(rows, of)];
  return one === undefined || other === undefined ? null : quantity(comparisons([one, other])[0]?.ratio ?? null);
}

function exponentOf(asked: Extract<Measure, { kind: 'exponent' }>, sections: readonly ClaimSection[]): Quantity | null {
  const isAsked = ({ condition, bins }: Pick<MemoryRow, 'condition' | 'bins'>) =>
    condition === asked.condition && bins === (asked.bins ?? null);
  for (const section of sections) {
    const own = section.kind === 'memory' ? section.rows.filter(isAsked) : [];
    const [found] = scalings(own);
    if (found !== undefined)
      return { value: found.law.slope, interval: found.slope95, n: own.flatMap(({ judged }) => judged).length };
  }
  return null;
}

/** Values of a metric, one for each run of a setting; by default of the first setting. */
function valuesOf(
  { group, metric }: { readonly group: string; readonly metric: string },
  setting: string | undefined,
  sections: readonly ClaimSection[],
): Result[] {
  const section = sections.find((each) => each.group === group);
  if (section?.kind !== 'metrics') return [];
  const row = section.rows.find((each) => setting === undefined || settingText(each) === setting);
  return row === undefined ? [] : resultsOf(row.results, metric);
}

function ofMean(estimate: MeanEstimate | null): Quantity | null {
  return estimate && { value: estimate.mean, interval: estimate.interval, n: estimate.runs };
}

function find(rows: readonly MemoryRow[], { condition, N, bins, extra = {}, group }: RowKey): MemoryRow | undefined {
  const hasAll = (row: MemoryRow) =>
    Object.entries(extra).every(([key, value]) => !(key in row.extra) || row.extra[key] === value);
  return rows
    .filter((row) => group === undefined || row.group === group)
    .find((row) => row.condition === condition && row.N === N && row.bins === (bins ?? null) && hasAll(row));
}

function quantity(estimate: Estimate | null): Quantity | null {
  return estimate && { value: estimate.median, interval: estimate.interval, n: estimate.runs };
}
