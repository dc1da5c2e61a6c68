import type { StudyCurve, StudyFigure } from '../../../contract/study.js';
import { grouped } from '../../../base/group-by.js';
import type { MemoryRow } from './summary.js';
import { figure, points, noteIf } from '../study-parts.js';
import type { Scaling } from './scaling.js';
import type { MemorySection } from './sections.js';
import { familyText } from './tables.js';

/**
 * The main results: bits per episode, and for each group the episodes until the secret was memorised and until the
 * rewards had determined it.
 */
export function answerFigures(sections: readonly MemorySection[]): StudyFigure[] {
  return [...bitsFigure(sections), ...sections.flatMap(groupFigures)];
}

function groupFigures(section: MemorySection): StudyFigure[] {
  const families = grouped(section.rows, familyText);
  const of = section.group;
  const isOfSizes = new Set(section.rows.map(({ N }) => N)).size > 1;
  return [...(isOfSizes ? [sizeFigure(of, section, families)] : []), ...toldFigure(of, families)];
}

/** The rows of settings that differ in N alone. */
type Family = readonly MemoryRow[];

function nameOf([row]: Family): string {
  return familyText(row!);
}

/** Medians over the seeds with their range, and the law through them. */
function sizeFigure(of: string, { scalings }: MemorySection, families: readonly Family[]): StudyFigure {
  const axes = [
    { title: 'N', log: true },
    { title: 'episodes until memorised', log: true },
  ] as const;
  const series = families.flatMap((rows) => sizeCurves(rows, scalings));
  return figure(`Episodes until memorised, ${of}`, sizeNote(scalings, families), axes, series);
}

function sizeCurves(rows: Family, scalings: readonly Scaling[]): StudyCurve[] {
  const [name, law] = [nameOf(rows), scalings.find((scaling) => familyText(scaling) === nameOf(rows))];
  const reached = rows.flatMap(({ N, episodes }) => (episodes === null ? [] : [{ N, ...episodes }]));
  const missed = rows.filter(({ medianOfAll, budget }) => medianOfAll === Infinity && budget !== null);
  return [
    points(name, reached, ({ N, median, least, most }) => ({ x: N, y: median, lo: least, hi: most })),
    ...(missed.length === 0
      ? []
      : [points(`${name}: given up there`, missed, ({ N, budget }) => ({ x: N, y: budget! }))]),
    ...(law === undefined ? [] : [lawCurve(name, law, rows)]),
    ...otherCurves(name, rows),
  ];
}

function sizeNote(scalings: readonly Scaling[], families: readonly Family[]): string {
  const laws = scalings.map(
    ({ law, slope95, ...scaling }) =>
      `${familyText(scaling)}: N^${law.slope.toFixed(2)}${slopeText(slope95)} over ${law.points} sizes`,
  );
  return [
    'Dots: median over the seeds that memorised; bars: the range of these seeds.',
    ...noteIf(
      laws.length > 0,
      `Dashed: least squares through the medians of all seeds in log-log. ${laws.join('; ')}.`,
    ),
    ...noteIf(
      families.flat().some(({ compared }) => compared !== null),
      'Also dashed: a table of independent logits above, the ideal learner below.',
    ),
  ].join(' ');
}

function slopeText(interval: Scaling['slope95']): string {
  return interval === null ? '' : ` [${interval.map((end) => end.toFixed(2)).join(', ')}]`;
}

function lawCurve(name: string, { law }: Scaling, rows: Family): StudyCurve {
  const sizes = rows.map(({ N }) => N);
  const ends = [Math.min(...sizes), Math.max(...sizes)];
  return points(name, ends, (N) => ({ x: N, y: law.factor * N ** law.slope }), 'dashed');
}

/** Medians of other learners over N, for settings with several known sizes. */
function otherCurves(name: string, rows: Family): StudyCurve[] {
  const known = rows.filter(({ compared }) => compared !== null);
  return (['table', 'ideal'] as const).flatMap((learner) => {
    const finite = known.filter(({ compared }) => Number.isFinite(compared![learner] ?? Infinity));
    return finite.length < 2
      ? []
      : [points(name, finite, ({ N, compared }) => ({ x: N, y: compared![learner]! }), 'dashed')];
  });
}

/** When the secret was learnt against when the rewards of the same episodes had determined it. */
function toldFigure(of: string, families: readonly Family[]): StudyFigure[] {
  // SFT counts examples, not episodes, so it is left out.
  const took = families.map((rows) => rows.filter(({ kind, medianOfAll }) => kind !== 'sft' && isNumber(medianOfAll)));
  const against = (name: string, rows: Family, episodesOf: (row: MemoryRow) => number | null | undefined) => {
    const known = rows.filter((row) => isNumber(episodesOf(row)));
    return known.length === 0
      ? []
      : [points(name, known, (row) => ({ x: Math.max(1, episodesOf(row)!), y: row.medianOfAll! }))];
  };
  const series = [
    ...took.flatMap((rows) => (rows.length === 0 ? [] : against(nameOf(rows), rows, ({ told }) => told?.median))),
    ...against('over an ideal learner of its own episodes', took.flat(), ({ compared }) => compared?.ideal),
    ...against('over policy gradient on a table of logits', took.flat(), ({ compared }) => compared?.table),
  ];
  if (series.length === 0) return [];
  const ends = series.flatMap(({ x, y }) => [...x, ...y]).map(Number);
  const note =
    'A dot for each setting: the median of all seeds. Dashed: nothing is lost between what the rewards told and what the weights took.';
  const axes = [
    { title: 'episodes until the rewards determine the secret', log: true },
    { title: 'episodes until memorised', log: true },
  ] as const;
  return [
    figure(`Told against took, ${of}`, note, axes, [...series, diagonal([Math.min(...ends), Math.max(...ends)])]),
  ];
}

function isNumber(value: number | null | undefined): boolean {
  return value != null && Number.isFinite(value);
}

function diagonal(ends: readonly number[]): StudyCurve {
  return points('', ends, (end) => ({ x: end, y: end }), 'dashed');
}

/** Horizontal offset (a factor) between sizes with the same ceiling, so that both are visible. */
const ASIDE = 1.06;

/** Bits per episode of all groups, compared with what the reward can carry. */
function bitsFigure(sections: readonly MemorySection[]): StudyFigure[] {
  const measured = sections.flatMap(({ rows, bits }) =>
    rows
      .filter(({ bitsPerEpisode }) => bitsPerEpisode?.kind === 'measured')
      .map((row) => ({ ...row, interval: bits.get(row)?.interval })),
  );
  if (measured.length === 0) return [];
  const series = grouped(measured, familyText).map((rows) =>
    points(nameOf(rows), rows, ({ N, ceiling, bitsPerEpisode, interval }) => {
      const { bits } = bitsPerEpisode!;
      const [low, high] = interval ?? [bits, bits];
      const smaller = rows.filter((other) => other.ceiling.bits === ceiling.bits && other.N < N).length;
      return { x: ceiling.bits * ASIDE ** smaller, y: bits, lo: low, hi: Number.isFinite(high) ? high : bits };
    }),
  );
  const ceilings = measured.map(({ ceiling }) => ceiling.bits).filter((bits) => bits > 0);
  const note =
    'A dot for each setting: log2 N over the median episodes of all its seeds; bars: 95 %, by Student’s t over base models. Where sizes have one ceiling, each larger N lies a little to the right. Dashed: all that the reward can carry.';
  const axes = [
    { title: 'bits that one episode can carry (ceiling)', log: true },
    { title: 'bits learnt per episode', log: true },
  ] as const;
  // Wide enough for the ceilings only: the line of the maximum is far above all points.
  const line = diagonal([Math.min(...ceilings) / 1.5, Math.max(...ceilings) * 1.5]);
  const drawn = figure('Bits per episode', note, axes, [...series, line]);
  return [{ ...drawn, lines: [{ x: null, y: 1, text: '1 bit' }] }];
}
