import type { References } from './references.js';
import type { MemoryRow } from './summary.js';
import type { Scaling } from './scaling.js';
import type { Estimate } from './intervals.js';
import { COLLAPSED_BITS, MEMORISED_SHARE, PLATEAU_SHARE, STUCK_PROBABILITY } from './verdict.js';
import { grouped } from '../../../base/group-by.js';
import type { StudyTable } from '../../../contract/study.js';
import { countText, NOTHING, shortNumber } from '../../../text/numbers.js';
import { parametersText } from '../../../text/parameters-text.js';
import {
  columnsOf,
  sparedIfNothing,
  type TableColumn,
  tableOf,
  unlessAll,
  noteIf,
  type Written,
} from '../study-parts.js';
import type { MemorySection } from './sections.js';

/** The tables of a group, with the laws of N below. Examples and episodes have different tables, as they count different things. */
export function answerTables(section: MemorySection): StudyTable[] {
  const kinds = grouped(section.rows, ({ kind }) => String(kind === 'sft'));
  return kinds.map((rows, index) => {
    const laws = index === kinds.length - 1 ? scalingLines(section.scalings) : [];
    return tableOf(index === 0 ? titleOf(section) : null, memoryColumns(rows, section.bits), laws);
  });
}

export function titleOf({ group, title }: Pick<MemorySection, 'group' | 'title'>): string {
  return title === null ? group : `${group} · ${title}`;
}

/** Name of a series of rows that differ in N alone, for tables and figures: `binned B=8 learning_rate=0.001`. */
export function familyText({ condition, bins, extra }: Pick<MemoryRow, 'condition' | 'bins' | 'extra'>): string {
  return [condition, bins === null ? '' : `B=${bins}`, parametersText(extra)].filter((part) => part !== '').join(' ');
}

/** Notes that explain the words and marks of the tables, as far as they occur. */
export function answerNotes(sections: readonly MemorySection[], { tables }: Pick<References, 'tables'>): string[] {
  const rows = sections.flatMap((section) => section.rows);
  return rows.length === 0 ? [] : [...memoryNotes(rows), ...comparedNotes(sections, rows, tables)];
}

/** Marks that the notes below the table explain. */
const marks = { tie: '*', reference: '†' } as const;

/** Columns of a memory table. All rows count the same unit: episodes, or examples for SFT. */
function memoryColumns(rows: readonly MemoryRow[], bits: MemorySection['bits']): TableColumn[] {
  const unit = rows.some(({ kind }) => kind === 'sft') ? 'example' : 'episode';
  const column = columnsOf(rows);
  const left = column('left');
  const right = column('right');
  const outcome = (kind: 'stuck' | 'plateau' | 'collapsed' | 'censored') =>
    sparedIfNothing(right(kind, ({ counts }) => ({ value: counts[kind], text: zeroIsNothing(counts[kind]) })));
  return [
    left('condition', conditionText),
    right('N', ({ N }) => ({ value: N, text: String(N) })),
    ...unlessAll(
      right('B', ({ bins }) => ({ value: bins, text: bins === null ? '' : String(bins) })),
      '',
    ),
    right('seeds', ({ seeds }) => ({ value: seeds, text: String(seeds) }), 6),
    right('memorised', ({ counts, seeds }) => ({ value: counts.memorised, text: `${counts.memorised}/${seeds}` })),
    ...[outcome('stuck'), outcome('plateau'), outcome('collapsed'), outcome('censored')],
    ...unlessAll(left('other', otherText), ''),
    right(`${unit}s`, ({ episodes }) => countCell(episodes?.median)),
    right('range', rangeText, 4),
    right('all seeds', (row) => ({ value: row.medianOfAll, text: medianText(row) }), 2),
    ...unlessAll(
      right('distinct', ({ distinct }) => (distinct === null ? '' : countCell(distinct))),
      '',
    ),
    ...(unit === 'example' ? [right('steps', ({ steps }) => countCell(steps))] : []),
    right(`bits/${unit}`, bitsCell),
    ...unlessAll(
      right('95 %', (row) => intervalCell(bits.get(row) ?? null), 4),
      NOTHING,
    ),
    right('ceiling', (row) => ({ value: row.ceiling.bits, text: ceilingText(row) }), 1),
    right('ratio', ratioText, 5),
    ...comparedColumns(rows, right),
  ];
}

/** Columns for other learners, if there are references. An unknown cell has a dash. */
function comparedColumns(
  rows: readonly MemoryRow[],
  right: (title: string, cell: (row: MemoryRow) => string | Written, spare?: number) => TableColumn,
): TableColumn[] {
  const isTold = rows.some(({ told, kind }) => told !== null && kind !== 'sft');
  const isCompared = rows.some(({ compared }) => compared !== null);
  const wasted = ({ told }: MemoryRow) =>
    told?.wasted == null ? NOTHING : { value: told.wasted, text: `×${neverOr(told.wasted)}` };
  return [
    ...(isTold ? [right('told', ({ told }) => countCell(told?.median), 3), right('took/told', wasted, 1)] : []),
    ...(isCompared
      ? [
          right('table', ({ compared }) => countCell(compared?.table), 2),
          right('ideal', ({ compared }) => countCell(compared?.ideal), 2),
          right('I(R;S|G)', ({ compared }) => shortNumber(compared?.mutualBits ?? null), 4),
        ]
      : []),
  ];
}

function countCell(value: number | null | undefined): Written {
  return { value: value ?? null, text: countText(value ?? null) };
}

/** One line per fitted law: `binary: episodes ∝ N^0.76 [0.70, 0.83] (5 sizes, R² 0.987)`. The R² is left out for two points. */
function scalingLines(scalings: readonly Scaling[]): string[] {
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

/** A count, or `never` for Infinity: most seeds did not reach the goal. */
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

function bitsCell({ bitsPerEpisode: bits }: MemoryRow): string | Written {
  if (bits === null) return NOTHING;
  return bits.kind === 'below'
    ? { value: null, text: `< ${shortNumber(bits.bits)}` }
    : { value: bits.bits, text: shortNumber(bits.bits) };
}

function intervalCell(estimate: Estimate | null): string | Written {
  if (estimate === null) return NOTHING;
  const { interval } = estimate;
  return { value: null, interval, text: `[${interval.map((end) => neverOr(end)).join(', ')}]` };
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
  const some = (count: (row: MemoryRow) => number) => rows.some((row) => count(row) > 0);
  return [
    `memorised: from that evaluation on, every one knew at least ${MEMORISED_SHARE * 100} % of the secret's log2 N bits.`,
    ...fates.flatMap(([count, note]) => noteIf(some(count), note)),
    'episodes, examples: the median over the seeds that memorised; all seeds: those that did not count as infinite.',
    'bits/…: log2 N over the median of all seeds; in brackets 95 %, by Student’s t over base models.',
    'ceiling: the most bits one episode can carry: log2 of the number of rewards that can be told apart.',
    ...noteIf(
      rows.some(({ ceiling }) => ceiling.kind === 'reference'),
      `${marks.reference} a continuous reward has no such number; given is the entropy of the distance of a uniform guess.`,
    ),
    ...rows.filter(({ topRewardTies: ties }) => ties > 1).map(tieNote),
    ...resolutionNote(rows),
  ];
}

/** Notes on the comparisons beside the measured figures, and on the exponents' intervals. */
function comparedNotes(
  sections: readonly MemorySection[],
  rows: readonly MemoryRow[],
  tables: readonly string[],
): string[] {
  return [
    ...noteIf(
      rows.some(({ told, kind }) => told !== null && kind !== 'sft'),
      'told: episodes after which their rewards left only one secret (the median of the seeds that were observed); took/told: the median over these seeds of episodes until memorised over that.',
    ),
    ...noteIf(
      rows.some(({ compared }) => compared !== null),
      `table: episodes that policy gradient on a table of independent logits needs (${tables.join('; ')}); ideal: one that draws every conclusion; I(R;S|G): bits an episode tells while guesses are uniform.`,
    ),
    ...noteIf(
      sections.some(({ scalings }) => scalings.some(({ slope95 }) => slope95 !== null)),
      'N^… [ ]: 95 %, by bootstrap over base models and the seeds on each.',
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
