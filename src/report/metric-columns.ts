import { bestFirst, bestOnes, type Ranked } from '../analysis/best-first.js';
import { healthWord } from '../analysis/health/finding.js';
import { notFiniteText } from '../analysis/seed-statistics.js';
import type { Ailment } from '../base/run-words.js';
import { NOTHING, shortNumber } from '../text/numbers.js';
import { type Column, columnsOf } from '../text/table.js';
import type { MetricRow, MetricSummary } from './metric-summary.js';
import type { Section } from './report.js';
import { middleOf, type Spread, spreadText } from './spread.js';

/** The table of a group that is no memory task. */
type MetricTable = Pick<Section & { kind: 'metrics' }, 'keys' | 'rows' | 'goals'>;

/** `spread`: what is said of the seeds of one setting. `isSorted`: the best by the first metric on top, not in the order of the sweep. */
export type MetricLook = { readonly spread: Spread; readonly isSorted?: boolean };

/** Stands before the best of a column. */
export const bestSign = '●';

/** The columns of a generic table: the parameters of each cell, how its runs stand, and its metrics over the seeds. */
export function metricColumns(table: MetricTable, { spread, isSorted = false }: MetricLook): Column[] {
  const rows = isSorted ? sorted(table, spread) : table.rows;
  const column = columnsOf(rows);
  return [
    column('left')('runs', nameOf),
    column('right')('n', ({ seeds }) => String(seeds)),
    column('left')('states', statesText),
    // The first metric is the one asked for first.
    ...table.keys.map((key, spare) => metricColumn({ ...table, rows }, key, { spread, spare })),
  ];
}

function metricColumn(table: MetricTable, key: string, { spread, spare }: { spread: Spread; spare: number }): Column {
  const { rows, goals } = table;
  const best = bestRows(table, key, spread);
  const arrow = goals[key] === undefined ? '' : goals[key] === 'maximize' ? ' ↑' : ' ↓';
  const cells = rows.map((row, index) => {
    const text = summaryText(row.metrics[key], row.seeds, spread);
    return best.has(index) ? `${bestSign} ${text}` : text;
  });
  return { title: key + arrow, align: 'right', cells, spare };
}

/** Whether any of its columns marks a best one. */
export function hasBest(table: MetricTable, spread: Spread): boolean {
  return table.keys.some((key) => bestRows(table, key, spread).size > 0);
}

function bestRows({ rows, goals }: MetricTable, key: string, spread: Spread): ReadonlySet<number> {
  return bestOnes(rankedBy(rows, key, spread), goals[key] ?? null, shortNumber);
}

/** By the first metric whose good end is known; by the first one, the highest on top, where it is of none. */
function sorted({ rows, keys, goals }: MetricTable, spread: Spread): MetricRow[] {
  const key = keys.find((each) => goals[each] !== undefined) ?? keys[0];
  if (key === undefined) return rows;
  return bestFirst(rankedBy(rows, key, spread), goals[key] ?? null).map((index) => rows[index]!);
}

function rankedBy(rows: readonly MetricRow[], key: string, spread: Spread): Ranked[] {
  return rows.map(({ metrics: { [key]: summary } }) => {
    if (summary === undefined) return { value: null, isBroken: false };
    return { value: middleOf(summary, spread), isBroken: summary.nan + summary.infinite > 0 };
  });
}

function nameOf(row: MetricRow): string {
  const text = settingText(row);
  return text === '' ? 'all' : text;
}

function statesText({ states, marks }: MetricRow): string {
  return [...Object.entries(states).map(([state, count]) => `${count} ${state}`), ...markWords(marks)].join(', ');
}

/** `3 diverged`, for each mark. */
export function markWords(marks: MetricRow['marks']): string[] {
  return (Object.keys(marks) as Ailment[]).map((word) => `${marks[word]} ${healthWord(word)}`);
}

/** `0.31 ± 0.02 (3 of 5)`, `0.31 ± 0.02 · 2 NaN`: what is no number is counted, and what is missing, too. */
function summaryText(summary: MetricSummary | undefined, seeds: number, spread: Spread): string {
  if (summary === undefined) return NOTHING;
  const { n, nan, infinite } = summary;
  const text = spreadText(summary, spread);
  const missing = n > 0 && n + nan + infinite < seeds ? ` (${n + nan + infinite} of ${seeds})` : '';
  const parts = [text === null ? '' : text + missing, notFiniteText({ nan, infinite })].filter((part) => part !== '');
  return parts.length === 0 ? NOTHING : parts.join(' · ');
}

/** What tells a cell from the others of its group: what the sweep calls it, else its parameters; empty for the only one. */
export function settingText({ title, varies }: Pick<MetricRow, 'title' | 'varies'>): string {
  return title ?? parameterText(varies);
}

/** Parameters in one line: `lr=0.001 depth=4`. */
export function parameterText(parameters: Readonly<Record<string, unknown>>): string {
  return Object.entries(parameters)
    .filter(([, value]) => value !== undefined)
    .map(([key, value]) => `${key}=${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(' ');
}
