import * as Plot from '@observablehq/plot';
import type { Scaling } from '../../analysis/scaling.js';
import { bitsEstimate } from '../../analysis/study/memory-intervals.js';
import { familyText } from '../metric-columns.js';
import type { Section } from '../report.js';
import { comparedMarks, type FamilyRow as Answered, toldFigure } from './compared-figures.js';
import type { Figure } from './curve-figures.js';
import { figureSvg, palette, tickText } from './figure.js';

/** The main results of the memory task: how many episodes it takes to memorise a secret, and how many bits an episode taught. */
export function memoryFigures(section: Section): Figure[] {
  if (section.kind !== 'memory') return [];
  const rows = section.rows.map((row) => ({ ...row, family: familyText(row) }));
  const families = [...new Set(rows.map(({ family }) => family))];
  const colourOf = (family: string) => palette[families.indexOf(family) % palette.length]!;
  const legend = families.map((text) => ({ colour: colourOf(text), text }));
  const figures: Figure[] = [];
  if (hasSeveral(rows, ({ N }) => N)) figures.push(sizeFigure(rows, section.scalings, { colourOf, legend }));
  figures.push(...toldFigure(rows, { colourOf, legend }));
  figures.push(...bitsFigure(rows, { colourOf, legend }));
  return figures;
}

type Colours = { colourOf: (family: string) => string; legend: Figure['legend'] };

/** Medians over the seeds with their range; sizes that most seeds did not memorise are open points at the budget. */
function sizeFigure(rows: readonly Answered[], scalings: readonly Scaling[], { colourOf, legend }: Colours): Figure {
  const reached = rows.filter(({ episodes }) => episodes !== null);
  const missed = rows.filter(({ medianOfAll, budget }) => medianOfAll === Infinity && budget !== null);
  const lines = scalings.flatMap((scaling) => fitted(scaling, rows));
  const colour = ({ family }: { family: string }) => colourOf(family);
  const median = ({ episodes }: Answered) => episodes!.median;
  const [least, most] = [({ episodes }: Answered) => episodes!.least, ({ episodes }: Answered) => episodes!.most];
  const dashed = { strokeDasharray: '4 4', strokeOpacity: 0.7 };
  const sizes = [...new Set(rows.map(({ N }) => N))];
  const svg = figureSvg('episodes until the secret is known against its number of values', {
    x: { type: 'log', base: 2, label: 'N (values that the secret may have)', ticks: sizes, tickFormat: String },
    y: { type: 'log', label: 'episodes until memorised', grid: true, tickFormat: tickText },
    marks: [
      ...comparedMarks(rows, { colourOf }),
      Plot.line(lines, { x: 'N', y: 'episodes', z: 'family', stroke: colour, ...dashed }),
      Plot.ruleX(reached, { x: 'N', y1: least, y2: most, stroke: colour, strokeWidth: 1.5 }),
      Plot.dot(reached, { x: 'N', y: median, r: 5, fill: colour, title: titleOf }),
      Plot.dot(missed, { x: 'N', y: 'budget', r: 5, symbol: 'triangle', stroke: colour, title: titleOf }),
    ],
  });
  return { title: 'Episodes until memorised', svg, legend, note: sizeNote(rows, missed.length > 0, scalings) };
}

function sizeNote(rows: readonly Answered[], isMissed: boolean, scalings: readonly Scaling[]): string {
  const laws = scalings.map(
    ({ law, slope95, ...scaling }) =>
      `${familyText(scaling)}: N^${law.slope.toFixed(2)}${slopeText(slope95)} over ${law.points} sizes`,
  );
  return [
    'Dots: median over the seeds that memorised; lines up and down: the range of these seeds.',
    ...(isMissed ? ['Triangles: most seeds had not memorised when their budget ended there.'] : []),
    ...(laws.length > 0
      ? [`Dashed: least squares through the medians of all seeds in log-log. ${laws.join('; ')}.`]
      : []),
    ...(rows.some(({ compared }) => compared !== null)
      ? ['Dotted: a table of independent logits above, the ideal learner below.']
      : []),
  ].join(' ');
}

function slopeText(interval: Scaling['slope95']): string {
  return interval === null ? '' : ` [${interval.map((end) => end.toFixed(2)).join(', ')}]`;
}

type Law = { family: string; N: number; episodes: number };

function fitted(scaling: Scaling, rows: readonly Answered[]): Law[] {
  const family = familyText(scaling);
  const sizes = rows.filter((row) => row.family === family).map(({ N }) => N);
  const ends = [Math.min(...sizes), Math.max(...sizes)];
  return ends.map((N) => ({ family, N, episodes: scaling.law.factor * N ** scaling.law.slope }));
}

/** Bits per episode, compared with what the reward can carry. */
function bitsFigure(rows: readonly Answered[], { colourOf, legend }: Colours): Figure[] {
  const measured = rows.filter(({ bitsPerEpisode }) => bitsPerEpisode?.kind === 'measured');
  if (measured.length === 0) return [];
  const points = measured.map(bitsPoint);
  const ceilings = points.map(({ most }) => most).filter((most) => most > 0 && Number.isFinite(most));
  const ends = [...points.flatMap(({ low, high }) => [low, high]), ...ceilings].filter((bits) => bits > 0);
  const range = [Math.min(...ends), Math.max(...ends)];
  // The width is that of the ceilings, as the line of the maximum is far above all points.
  const width = [Math.min(...ceilings) / 1.5, Math.max(...ceilings) * 1.5];
  const svg = figureSvg('bits learnt per episode against the bits that its reward can carry', {
    x: { type: 'log', label: 'bits that one episode can carry (ceiling)', tickFormat: tickText, domain: width },
    y: {
      type: 'log',
      label: 'bits learnt per episode',
      grid: true,
      tickFormat: tickText,
      domain: [range[0]! / 1.5, Math.max(range[1]!, width[1]!) * 1.5],
    },
    marks: [
      Plot.line(
        width.map((bits) => ({ bits })),
        { x: 'bits', y: 'bits', strokeDasharray: '4 4', strokeOpacity: 0.6 },
      ),
      Plot.ruleX(points, { x: 'most', y1: 'low', y2: 'high', stroke: ({ family }: BitsPoint) => colourOf(family) }),
      Plot.dot(points, {
        x: 'most',
        y: 'bits',
        r: 5,
        fill: ({ family }: BitsPoint) => colourOf(family),
        fillOpacity: 0.75,
        title: titleOf,
      }),
    ],
  });
  const note =
    'A dot for each setting: log2 N over the median episodes of all its seeds; lines up and down: 95 %, by bootstrap over base models and seeds. Dashed: all that the reward can carry.';
  return [{ title: 'Bits per episode', svg, legend, note }];
}

type BitsPoint = ReturnType<typeof bitsPoint>;

function bitsPoint(row: Answered) {
  const bits = row.bitsPerEpisode!.bits;
  // An end of 0, where too few seeds memorised, has no place on a scale of logarithms: the line ends at the dot.
  const [low, high] = bitsEstimate(row)?.interval ?? [bits, bits];
  return { ...row, bits, low: low > 0 ? low : bits, high, most: row.ceiling.bits };
}

function titleOf({ family, N, counts, seeds }: Answered): string {
  return `${family}, N=${N}: ${counts.memorised} of ${seeds} seeds memorised`;
}

function hasSeveral<Row>(rows: readonly Row[], valueOf: (row: Row) => unknown): boolean {
  return new Set(rows.map(valueOf)).size > 1;
}
