import { bestFirst, bestOnes, type Ranked } from '../analysis/best-first.js';
import { healthWord } from '../analysis/health/finding.js';
import { notFiniteText } from '../analysis/seed-statistics.js';
import type { Ailment } from '../base/run-words.js';
import { NOTHING, shortNumber } from '../text/numbers.js';
import { settingText } from '../analysis/cells.js';
import { type Column, columnsOf } from '../text/table.js';
import type { MetricRow, MetricSummary } from './metric-summary.js';
import { middleOf, type Spread, spreadText } from './spread.js';
import type { Section } from './report.js';

/** The table of a group that is no memory task. */
type MetricTable = Pick<Section & { kind: 'metrics' }, 'keys' | 'rows' | 'goals'>;

/** Marks the best value of a column. */
export const bestSign = '●';

/**
 * The columns of a generic table: the parameters of each cell, the states of its runs, and its metrics over the seeds. The best comes
 * first, by the first metric of which it is known which end is good.
 *
 * @param spread How the seeds of one setting are summarised.
 */
export function metricColumns(table: MetricTable, spread: Spread): Column[] {
  const rows = sorted(table, spread);
  const column = columnsOf(rows);
  return [
    column('left')('setting', nameOf),
    column('right')('n', ({ seeds }) => String(seeds)),
    column('left')('states', statesText),
    // The first metric is the most important, and is dropped last.
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

/** Whether any of its columns has a marked best value. */
export function hasBest(table: MetricTable, spread: Spread): boolean {
  return table.keys.some((key) => bestRows(table, key, spread).size > 0);
}

function bestRows({ rows, goals }: MetricTable, key: string, spread: Spread): ReadonlySet<number> {
  return bestOnes(rankedBy(rows, key, spread), goals[key] ?? null, shortNumber);
}

function sorted({ rows, keys, goals }: MetricTable, spread: Spread): MetricRow[] {
  const key = keys.find((each) => goals[each] !== undefined);
  if (key === undefined) return rows;
  return bestFirst(rankedBy(rows, key, spread), goals[key]!).map((index) => rows[index]!);
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

/** The marks with their numbers of runs: `3 diverged`. */
export function markWords(marks: MetricRow['marks']): string[] {
  return (Object.keys(marks) as Ailment[]).map((word) => `${marks[word]} ${healthWord(word)}`);
}

/** `0.31 ± 0.02 (3 of 5)`, `0.31 ± 0.02 · 2 NaN`: values that are not finite are counted, and so are missing ones. */
function summaryText(summary: MetricSummary | undefined, seeds: number, spread: Spread): string {
  if (summary === undefined) return NOTHING;
  const { n, nan, infinite } = summary;
  const text = spreadText(summary, spread);
  const missing = n > 0 && n + nan + infinite < seeds ? ` (${n + nan + infinite} of ${seeds})` : '';
  const parts = [text === null ? '' : text + missing, notFiniteText({ nan, infinite })].filter((part) => part !== '');
  return parts.length === 0 ? NOTHING : parts.join(' · ');
}
