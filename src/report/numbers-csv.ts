import type { MemoryRow } from '../analysis/memory-summary.js';
import { bitsEstimate } from '../analysis/study/memory-intervals.js';
import type { Scaling } from '../analysis/scaling.js';
import { type CsvValue, csvLine } from '../text/csv.js';
import { distinct, fileName } from './file-names.js';
import type { MetricRow } from './metric-summary.js';
import { parametersText } from '../text/parameters-text.js';
import type { Report, Section } from './report.js';

/** The numbers of a report as CSV files: the rows of each group, and for a memory group the exponents. */
export function numberFiles({ sections }: Pick<Report, 'sections'>): { name: string; text: string }[] {
  const files = sections.flatMap((section) =>
    tablesOf(section).flatMap(({ name, rows }) =>
      rows.length === 0 ? [] : [{ name: fileName(`${section.group}-${name}`), text: csvOf(rows) }],
    ),
  );
  return distinct(files).map(({ name, text }) => ({ name: `${name}.csv`, text }));
}

type CsvRow = Readonly<Record<string, CsvValue>>;

function tablesOf(section: Section): { name: string; rows: CsvRow[] }[] {
  if (section.kind === 'metrics') return [{ name: 'metrics', rows: section.rows.flatMap(metricRows) }];
  return [
    { name: 'memory', rows: section.rows.map(memoryRow) },
    { name: 'exponents', rows: section.scalings.map(scalingRow) },
  ];
}

/** The columns of all rows, in the order of first appearance. */
function csvOf(rows: readonly CsvRow[]): string {
  const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  return [columns, ...rows.map((row) => columns.map((column) => row[column]))]
    .map((values) => `${csvLine(values)}\n`)
    .join('');
}

/** A memory row. Episodes are examples for SFT; `inf`: most seeds did not memorise. */
function memoryRow(row: MemoryRow): CsvRow {
  const { condition, N, bins, extra, seeds, counts } = row;
  return {
    ...{ condition, N, bins, setting: parametersText(extra), seeds },
    ...{ memorised: counts.memorised, stuck: counts.stuck, collapsed: counts.collapsed, censored: counts.censored },
    plateau: counts.plateau,
    ...learnt(row),
    ...{ secret_bits: row.secretBits, reachable_bits: row.reachableBits, ceiling_bits: row.ceiling.bits },
    ...besides(row),
  };
}

function learnt(row: MemoryRow): CsvRow {
  const { episodes, medianOfAll, budget, bitsPerEpisode: bits } = row;
  const [low, high] = bitsEstimate(row)?.interval ?? [];
  return {
    episodes_memorised_median: episodes?.median,
    episodes_memorised_least: episodes?.least,
    episodes_memorised_most: episodes?.most,
    episodes_all_median: open(medianOfAll),
    budget,
    bits_per_episode: bits?.kind === 'measured' ? bits.bits : null,
    bits_per_episode_below: bits?.kind === 'below' ? bits.bits : null,
    bits_per_episode_low95: low,
    bits_per_episode_high95: high,
  };
}

function besides({ told, compared }: MemoryRow): CsvRow {
  return {
    told_median: open(told?.median),
    told_runs: told?.runs,
    took_over_told_median: open(told?.wasted),
    table_median: open(compared?.table),
    ideal_median: open(compared?.ideal),
    mutual_bits: compared?.mutualBits,
  };
}

function scalingRow({ condition, bins, extra, law, slope95, tableSlope, idealSlope, leftOut }: Scaling): CsvRow {
  return {
    ...{ condition, bins, setting: parametersText(extra), exponent: law.slope },
    exponent_low95: slope95?.[0],
    exponent_high95: slope95?.[1],
    ...{ factor: law.factor, r2: law.r2, sizes: law.points, left_out: leftOut.join(' ') || null },
    ...{ table_exponent: tableSlope, ideal_exponent: idealSlope },
  };
}

/** One row for each metric of a setting. */
function metricRows({ varies, seeds, metrics }: MetricRow): CsvRow[] {
  return Object.entries(metrics).map(([metric, summary]) => ({
    ...{ setting: parametersText(varies), seeds, metric, n: summary.n, nan: summary.nan, infinite: summary.infinite },
    ...{ mean: summary.mean, deviation: summary.deviation },
    ...{ ci95_low: summary.ci95?.[0], ci95_high: summary.ci95?.[1] },
    ...{ median: summary.median, least: summary.range?.[0], most: summary.range?.[1] },
  }));
}

function open(value: number | null | undefined): CsvValue {
  return value === Infinity ? 'inf' : value;
}
