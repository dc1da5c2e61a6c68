import type { MemoryRow } from '../analysis/memory-summary.js';
import { bitsEstimate } from '../analysis/study/memory-intervals.js';
import { BUSY } from '../analysis/health/resources.js';
import { runValueText } from '../analysis/run-value.js';
import type { Scaling } from '../analysis/scaling.js';
import { COLLAPSED_BITS, MEMORISED_SHARE, PLATEAU_SHARE, STUCK_PROBABILITY } from '../analysis/verdict.js';
import { grouped } from '../base/group-by.js';
import { countText, NOTHING, shortNumber } from '../text/numbers.js';
import { parametersText } from '../text/parameters-text.js';
import { type Column, columnsOf, unlessNothing } from '../text/table.js';
import { bestSign, familyText, hasBest, markWords, metricColumns } from './metric-columns.js';
import { countWords } from '../runs/run-marks.js';
import type { Report, Section } from './report.js';
import { type Spread, spreadWords } from './spread.js';

/** The tables of a group, as columns of text. Examples and episodes have different tables, as they count different things. */
export function sectionTables(section: Section, spread: Spread): Column[][] {
  if (section.kind === 'metrics') return [metricColumns(section, spread)];
  return grouped(section.rows, ({ kind }) => String(kind === 'sft')).map(memoryColumns);
}

/** Notes that explain the words, marks and numbers of the tables, as far as they occur. */
export function reportNotes(report: Report, spread: Spread): string[] {
  return [
    ...metricNotes(report, spread),
    ...memoryNotes(report.sections.flatMap((section) => (section.kind === 'memory' ? section.rows : []))),
    ...comparedNotes(report),
    ...gpuNotes(report),
  ];
}

function gpuNotes({ gpuHours }: Report): string[] {
  if (gpuHours === undefined) return [];
  const { seen, idle } = gpuHours;
  const share = Math.round((100 * idle) / seen);
  return [`GPU hours of runs: ${seen.toFixed(1)}, idle ${idle.toFixed(1)} (${share} %, below ${BUSY} % utilization)`];
}

/** The states in the order of the count line. */
const statesInOrder = [
  ...(['done', 'running', 'paused', 'starting', 'stopping', 'queued', 'held'] as const),
  ...(['failed', 'killed', 'lost'] as const),
];

/** The numbers of runs by state and mark: `12 done · 1 failed · 3 diverged`. */
export function countsText({ counts, marks }: Pick<Report, 'counts' | 'marks'>): string {
  const words = statesInOrder.filter((state) => counts[state]);
  return [...words.map((state) => `${counts[state]} ${state}`), ...markWords(countWords(marks))].join(' · ');
}

export function titleOf({ group, title }: Section): string {
  return title === null ? group : `${group} · ${title}`;
}

/** Marks that the notes below the table explain. */
const marks = { tie: '*', reference: '†' } as const;

/** The columns of a memory table. All rows count the same: episodes, or examples for SFT. */
function memoryColumns(rows: readonly MemoryRow[]): Column[] {
  const unit = rows.some(({ kind }) => kind === 'sft') ? 'example' : 'episode';
  const column = columnsOf(rows);
  const left = column('left');
  const right = column('right');
  return [
    left('condition', conditionText),
    right('N', ({ N }) => String(N)),
    ...unlessEmpty(right('B', ({ bins }) => (bins === null ? '' : String(bins)))),
    right('seeds', ({ seeds }) => String(seeds), 6),
    right('memorised', ({ counts, seeds }) => `${counts.memorised}/${seeds}`),
    sparedIfNothing(right('stuck', ({ counts }) => zeroIsNothing(counts.stuck))),
    sparedIfNothing(right('plateau', ({ counts }) => zeroIsNothing(counts.plateau))),
    sparedIfNothing(right('collapsed', ({ counts }) => zeroIsNothing(counts.collapsed))),
    sparedIfNothing(right('censored', ({ counts }) => zeroIsNothing(counts.censored))),
    ...unlessEmpty(left('other', otherText)),
    right(`${unit}s`, ({ episodes }) => countText(episodes?.median ?? null)),
    right('range', rangeText, 4),
    right('all seeds', medianText, 2),
    ...unlessEmpty(right('distinct', ({ distinct }) => (distinct === null ? '' : countText(distinct)))),
    ...(unit === 'example' ? [right('steps', ({ steps }) => countText(steps))] : []),
    right(`bits/${unit}`, bitsText),
    ...unlessNothing(right('95 %', bitsIntervalText, 4)),
    right('ceiling', ceilingText, 1),
    right('ratio', ratioText, 5),
    ...comparedColumns(rows, right),
  ];
}

/** Columns for other learners, if anything is known of them. An unknown cell has a dash. */
function comparedColumns(
  rows: readonly MemoryRow[],
  right: (title: string, text: (row: MemoryRow) => string, spare?: number) => Column,
): Column[] {
  const isTold = rows.some(({ told, kind }) => told !== null && kind !== 'sft');
  const isCompared = rows.some(({ compared }) => compared !== null);
  const wasted = ({ told }: MemoryRow) => (told?.wasted == null ? NOTHING : `×${neverOr(told.wasted)}`);
  return [
    ...(isTold ? [right('told', ({ told }) => countText(told?.median ?? null), 3), right('took/told', wasted, 1)] : []),
    ...(isCompared
      ? [
          right('table', ({ compared }) => countText(compared?.table ?? null), 2),
          right('ideal', ({ compared }) => countText(compared?.ideal ?? null), 2),
          right('I(R;S|G)', ({ compared }) => shortNumber(compared?.mutualBits ?? null), 4),
        ]
      : []),
  ];
}

/** One line per fitted law: `binary: episodes ∝ N^0.76 [0.70, 0.83] (5 sizes, R² 0.987)`. The R² is left out for two points. */
export function scalingLines(scalings: readonly Scaling[]): string[] {
  return scalings.map(({ condition, bins, extra, law, leftOut, ...scaling }) => {
    const name = familyText({ condition, bins, extra });
    const without = leftOut.length === 0 ? '' : `; without N=${leftOut.join(', ')}, where most seeds did not memorise`;
    const fit = law.points > 2 ? `, R² ${law.r2.toFixed(3)}` : '';
    const slope = `${law.slope.toFixed(2)}${intervalText(scaling.slope95)}`;
    return `${name}: episodes ∝ N^${slope} (${law.points} sizes${fit})${without}${othersText(scaling)}`;
  });
}

function intervalText(interval: Scaling['slope95']): string {
  return interval === null ? '' : ` [${interval.map((end) => end.toFixed(2)).join(', ')}]`;
}

function othersText({ idealSlope, tableSlope }: Pick<Scaling, 'idealSlope' | 'tableSlope'>): string {
  const others = [
    ...(tableSlope === null ? [] : [`a table N^${tableSlope.toFixed(2)}`]),
    ...(idealSlope === null ? [] : [`the ideal learner N^${idealSlope.toFixed(2)}`]),
  ];
  return others.length === 0 ? '' : `; ${others.join(', ')}`;
}

/** A count, or `never` for Infinity: most seeds did not get there. */
function neverOr(value: number): string {
  return value === Infinity ? countText(value) : shortNumber(value);
}

function conditionText({ condition, extra }: MemoryRow): string {
  return [condition, parametersText(extra)].filter((part) => part !== '').join(' ');
}

function otherText({ counts }: MemoryRow): string {
  const words = {
    running: counts.running,
    queued: counts.queued,
    unfinished: counts.unfinished,
    unmeasured: counts.unmeasured,
  };
  return Object.entries(words)
    .filter(([, count]) => count > 0)
    .map(([word, count]) => `${count} ${word}`)
    .join(', ');
}

function rangeText({ episodes }: MemoryRow): string {
  if (episodes === null) return NOTHING;
  const { least, most } = episodes;
  return least === most ? countText(least) : `${countText(least)} to ${countText(most)}`;
}

function medianText({ medianOfAll, budget }: MemoryRow): string {
  return medianOfAll === Infinity ? `> ${countText(budget)}` : countText(medianOfAll);
}

function bitsText({ bitsPerEpisode: bits }: MemoryRow): string {
  if (bits === null) return NOTHING;
  return bits.kind === 'below' ? `< ${shortNumber(bits.bits)}` : shortNumber(bits.bits);
}

function bitsIntervalText(row: MemoryRow): string {
  const estimate = bitsEstimate(row);
  return estimate === null ? NOTHING : `[${estimate.interval.map((end) => neverOr(end)).join(', ')}]`;
}

function ceilingText({ ceiling, topRewardTies }: MemoryRow): string {
  const mark = ceiling.kind === 'reference' ? marks.reference : topRewardTies > 1 ? marks.tie : '';
  return shortNumber(ceiling.bits) + mark;
}

function ratioText({ ceiling, bitsPerEpisode: bits }: MemoryRow): string {
  if (bits === null || ceiling.bits === 0) return NOTHING;
  const ratio = shortNumber(bits.bits / ceiling.bits, 2);
  return bits.kind === 'below' ? `< ${ratio}` : ratio;
}

function zeroIsNothing(count: number): string {
  return count === 0 ? NOTHING : String(count);
}

/** Makes a column without any value the first to be dropped if the table is too wide. */
function sparedIfNothing(candidate: Column): Column {
  return candidate.cells.every((cell) => cell === NOTHING) ? { ...candidate, spare: 3 } : candidate;
}

function unlessEmpty(candidate: Column): Column[] {
  return candidate.cells.every((cell) => cell === '') ? [] : [candidate];
}

/** Notes on the numbers in tables of metrics, unless each is the last value of one run. */
function metricNotes({ sections, value }: Report, spread: Spread): string[] {
  const tables = sections.filter((section) => section.kind === 'metrics');
  const isUsual = value.kind === 'last' && spread === 'std';
  const hasSeeds = tables.some(({ rows }) => rows.some(({ seeds }) => seeds > 1));
  return [
    ...when((!isUsual || hasSeeds) && tables.length > 0, `Metrics: ${runValueText(value)}; ${spreadWords[spread]}.`),
    ...when(
      tables.some((table) => hasBest(table, spread)),
      `${bestSign}: the best of its column; ↑ ↓ which way is better.`,
    ),
  ];
}

/** The columns of outcomes, and notes that explain them. */
const fates: readonly (readonly [(row: MemoryRow) => number, string])[] = [
  [({ distinct }) => distinct ?? 0, 'distinct: so many of these examples were different; the others repeated them.'],
  [({ counts }) => counts.stuck, `stuck: ended confident (P > ${STUCK_PROBABILITY}) of a wrong answer.`],
  [
    ({ counts }) => counts.plateau,
    `plateau: at the end at least ${PLATEAU_SHARE * 100} % of the groups earned one and the same reward above 0: nothing told their episodes apart.`,
  ],
  [
    ({ counts }) => counts.collapsed,
    `collapsed: ended with less than ${COLLAPSED_BITS} bits, the secret far less likely than by chance.`,
  ],
  [({ counts }) => counts.censored, 'censored: the budget ended before it memorised; none of the above.'],
  [
    ({ counts }) => counts.unfinished,
    'unfinished: failed, was killed or lost before its budget; left out of the medians.',
  ],
  [({ counts }) => counts.unmeasured, 'unmeasured: ended without an evaluation of bits.'],
];

/** Notes that explain the words and marks of the memory tables, as far as they occur. */
function memoryNotes(rows: readonly MemoryRow[]): string[] {
  if (rows.length === 0) return [];
  const some = (count: (row: MemoryRow) => number) => rows.some((row) => count(row) > 0);
  return [
    `memorised: from that evaluation on, every one knew at least ${MEMORISED_SHARE * 100} % of the secret's log2 N bits.`,
    ...fates.flatMap(([count, note]) => when(some(count), note)),
    'episodes, examples: the median over the seeds that memorised; all seeds: those that did not count as infinite.',
    'bits/…: log2 N over the median of all seeds; in brackets 95 %, by bootstrap over base models and the seeds on each.',
    'ceiling: the most bits one episode can carry: log2 of the number of rewards that can be told apart.',
    ...when(
      rows.some(({ ceiling }) => ceiling.kind === 'reference'),
      `${marks.reference} a continuous reward has no such number; given is the entropy of the distance of a uniform guess.`,
    ),
    ...rows.filter(({ topRewardTies: ties }) => ties > 1).map(tieNote),
    ...resolutionNote(rows),
  ];
}

/** Notes on the comparisons beside the measured figures, and on the exponents' intervals. */
function comparedNotes({ sections, tables }: Report): string[] {
  const memory = sections.filter((section) => section.kind === 'memory');
  const rows = memory.flatMap((section) => section.rows);
  return [
    ...when(
      rows.some(({ told, kind }) => told !== null && kind !== 'sft'),
      'told: episodes after which their rewards left only one secret (the median of the seeds that were observed); took/told: the median over these seeds of episodes until memorised over that.',
    ),
    ...when(
      rows.some(({ compared }) => compared !== null),
      `table: episodes that policy gradient on a table of independent logits needs (${tables.join('; ')}); ideal: one that draws every conclusion; I(R;S|G): bits an episode tells while guesses are uniform.`,
    ),
    ...when(
      memory.some(({ scalings }) => scalings.some(({ slope95 }) => slope95 !== null)),
      'N^… [ ]: 95 %, by bootstrap over the seeds within each N.',
    ),
  ];
}

function tieNote({ N, bins, topRewardTies: ties, reachableBits: reachable, secretBits }: MemoryRow): string {
  return (
    `${marks.tie} N=${N} B=${bins}: ${ties} neighbouring integers earn the top reward, so ${shortNumber(reachable)} of ` +
    `${shortNumber(secretBits)} bits are all that the reward asks for.`
  );
}

/** A note for rows in which the time between evaluations is a large part of the measured time. */
function resolutionNote(rows: readonly MemoryRow[]): string[] {
  const coarse = rows.filter(({ resolution, episodes }) => resolution !== null && resolution > 0.1 * episodes!.median);
  if (coarse.length === 0) return [];
  const most = Math.max(...coarse.map(({ resolution }) => resolution!));
  return [`Some numbers are coarse: there were up to ${countText(most)} episodes between evaluations.`];
}

function when(holds: boolean, note: string): string[] {
  return holds ? [note] : [];
}
