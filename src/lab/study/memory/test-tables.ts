import { grouped } from '../../../base/group-by.js';
import type { StudyTable } from '../../../contract/study.js';
import { chanceText, countText, NOTHING, shortNumber } from '../../../text/numbers.js';
import { columnsOf, percents, type TableColumn, tableOf, unlessAll } from '../study-parts.js';
import {
  besideExamples,
  type SupervisedComparison,
  type Comparison,
  comparisons,
  type Estimate,
  type RowIntervals,
  rowIntervals,
  timesOf,
  WIDEST_FACTOR,
} from './intervals.js';
import { coverageTables } from './coverage.js';
import type { MemorySection } from './sections.js';
import type { MemoryRow } from './summary.js';
import { familyText, titleOf } from './tables.js';

/** The intervals of the rows of each group, the comparisons of its rows of the same size, and reinforcement learning beside supervised learning. */
export function testTables(sections: readonly MemorySection[]): StudyTable[] {
  return [...sections.flatMap(tablesOfSection), ...besideTables(sections)];
}

function tablesOfSection(section: MemorySection): StudyTable[] {
  const kinds = grouped(section.rows, ({ kind }) => String(kind === 'sft'));
  const found = kinds.map(comparisons).filter((each) => each.length > 0);
  return [
    ...kinds.map((rows) => tableOf(`${titleOf(section)} · intervals`, intervalColumns(rows))),
    ...found.map((each) => tableOf(`${titleOf(section)} · comparisons`, comparisonColumns(each))),
    ...coverageTables(section),
  ];
}

function intervalColumns(rows: readonly MemoryRow[]): TableColumn[] {
  const times = timesOf(rows);
  const unit = rows.some(({ kind }) => kind === 'sft') ? 'examples' : 'episodes';
  const found = rowIntervals(rows, times);
  // Runs that stop once they have memorised cannot lose the secret: a column of zeros would suggest that they were
  // watched.
  const isLost = found.some(({ lost }) => lost !== null && lost.count > 0);
  const column = columnsOf(found);
  const left = column('left');
  const right = column('right');
  return [
    left('condition', ({ row }) => familyText(row)),
    right('N', ({ row }) => String(row.N)),
    right('runs', ({ row }) => String(row.judged.length)),
    right('bases', ({ bases }) => String(bases), 4),
    right('memorised', memorisedText),
    ...times.map((time, index) => right(`by ${countText(time)}`, ({ by }) => shareText(by[index]!), 5)),
    right(unit, ({ episodes }) => estimateText(episodes)),
    ...unlessAll(
      right('ICC', ({ between }) => (between === null ? NOTHING : intraclassText(between)), 2),
      NOTHING,
    ),
    right('updates', ({ updates }) => estimateText(updates), 1),
    right(`bits/${unit.slice(0, -1)}`, ({ bits }) => sharesText(bits), 4),
    ...unlessAll(
      right('took − told', ({ late }) => estimateText(late), 3),
      NOTHING,
    ),
    ...unlessAll(
      right('took/told', ({ ratio }) => ratioText(ratio), 2),
      NOTHING,
    ),
    ...(isLost ? [right('lost later', lostText)] : []),
    ...unlessAll(
      left('best', ({ isBest }) => (isBest === null ? NOTHING : isBest ? 'best' : '')),
      NOTHING,
    ),
  ];
}

function besideTables(sections: readonly MemorySection[]): StudyTable[] {
  const found = besideExamples(sections.flatMap(({ rows }) => rows));
  const title = 'Reinforcement learning beside supervised learning';
  return found.length === 0 ? [] : [tableOf(title, besideColumns(found), [besideNote])];
}

function besideColumns(found: readonly SupervisedComparison[]): TableColumn[] {
  const column = columnsOf(found);
  const left = column('left');
  const right = column('right');
  return [
    left('of', ({ rl }) => familyText(rl)),
    left('over', ({ sft }) => familyText(sft)),
    right('N', ({ rl }) => String(rl.N)),
    right('pairs', ({ pairs }) => String(pairs)),
    right('episodes/examples', ({ episodes }) => ratioText(episodes)),
    right('by the channel', ({ theory }) => `×${timesText(theory)}`),
    right('updates/updates', ({ updates }) => ratioText(updates), 1),
  ];
}

function comparisonColumns(found: readonly Comparison[]): TableColumn[] {
  const column = columnsOf(found);
  const left = column('left');
  const right = column('right');
  return [
    left('of', ({ other }) => familyText(other)),
    left('over', ({ one }) => familyText(one)),
    right('N', ({ one }) => String(one.N)),
    right('pairs', ({ pairs, p }) =>
      pairs === 0 ? NOTHING : `${pairs}${p === null ? ': too few for a paired test' : ''}`,
    ),
    right('ratio', ({ ratio }) => ratioText(ratio)),
    right('p', ({ p }) => testText(p), 2),
    right('p (Holm)', ({ holm }) => testText(holm)),
    right('memorised', ({ memorised, pairs }) => countedText(memorised, pairs)),
    right('p', ({ memorised }) => testText(memorised.p), 1),
    right('p (Holm)', ({ memorised }) => testText(memorised.holm)),
    ...unlessAll(
      right('lost later', ({ lost, pairs }) => (lost === null ? NOTHING : countedText(lost, pairs))),
      NOTHING,
    ),
    ...unlessAll(
      right('p', ({ lost }) => testText(lost?.p ?? null), 1),
      NOTHING,
    ),
    ...unlessAll(
      right('p (Holm)', ({ lost }) => testText(lost?.holm ?? null)),
      NOTHING,
    ),
  ];
}

function testText(p: number | null): string {
  return p === null ? NOTHING : chanceText(p);
}

function countedText({ one, other }: Comparison['memorised'], pairs: number): string {
  return `${pairs === 0 ? '' : 'only '}${other} : ${one}`;
}

const besideNote =
  'by the channel: log2 N over the most bits that an episode can carry, the ratio of learners that take all they are told. An example is counted as often as it is shown: at batch 128 each update takes 128 of the same.';

/** Explanations of the columns of intervals and tests. */
export const testNotes = [
  'In brackets: 95 %. Medians: runs that did not memorise count as infinite; by Student’s t over base models, of which the share of runs below is tested; with fewer than five they hold less than 95 %. memorised: Wilson. by …: the share that has memorised by then (Kaplan-Meier, log-log limits).',
  'updates: steps of the optimizer; a batch without a signal makes none. took − told, took/told: over the runs whose rewards determined the secret.',
  'lost later: of the runs that knew the secret at a hundred evaluations in a row, or memorised it, those that lost it afterwards at least once, whether or not they learnt it again.',
  'ICC: how much of the variance of the logarithm of these counts lies between base models, of runs that memorised: at 0 a base model makes no difference, at 1 all runs on one take the same.',
  `wide: the interval of a ratio is wider than a factor of ${WIDEST_FACTOR}, and its median says little.`,
  'best: memorised most often, of these the lowest median, among rows that differ in their learning rate alone. Only the best rows are compared; on the secrets on which they were chosen they look better than they are.',
  'ratio: median over runs of the same seed and secret. p: signed ranks of these ratios, or log-rank where runs share no secrets; Holm: adjusted for all comparisons of the table. With fewer than six pairs no paired test falls below .05, and there is none. memorised: pairs of which only one did, and the sign test; without pairs all that did, and Fisher. lost later: the same of runs that knew the secret for long.',
];

function memorisedText({ row, memorised }: RowIntervals): string {
  if (memorised === null) return NOTHING;
  return `${row.counts.memorised}/${row.judged.length} ${percents(memorised)}`;
}

function lostText({ lost }: RowIntervals): string {
  return lost === null ? NOTHING : `${lost.count}/${lost.of} ${percents(lost.interval)}`;
}

function shareText(by: RowIntervals['by'][number]): string {
  return by === null ? NOTHING : `${(100 * by.share).toFixed(0)} % ${percents(by.interval)}`;
}

function intraclassText({ share, interval }: NonNullable<RowIntervals['between']>): string {
  return `${share.toFixed(2)} [${interval.map((end) => end.toFixed(2)).join(', ')}]`;
}

function estimateText(estimate: Estimate | null): string {
  if (estimate === null) return NOTHING;
  return `${countText(roundCount(estimate.median))} [${estimate.interval.map((end) => countText(roundCount(end))).join(', ')}]`;
}

/** `estimateText` for values below 1. */
function sharesText(estimate: Estimate | null): string {
  if (estimate === null) return NOTHING;
  const { median, interval } = estimate;
  return `${shortNumber(median)} [${interval.map((end) => timesText(end)).join(', ')}]`;
}

function roundCount(value: number): number {
  return value < 10 ? Math.round(value * 10) / 10 : Math.round(value);
}

/** A ratio with its interval, marked when the interval is too wide. */
function ratioText(estimate: Estimate | null): string {
  if (estimate === null) return NOTHING;
  const { median, interval, runs } = estimate;
  const [low, high] = interval;
  const width = high <= WIDEST_FACTOR * low ? '' : ' wide';
  return `×${timesText(median)} [${timesText(low)}, ${timesText(high)}]${width} n=${runs}`;
}

function timesText(value: number): string {
  return value === Infinity ? '∞' : shortNumber(value);
}
