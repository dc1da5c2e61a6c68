import * as Plot from '@observablehq/plot';
import type { MemoryRow } from '../../analysis/memory-summary.js';
import type { Figure } from './curve-figures.js';
import { figureSvg, tickText } from './figure.js';

/** A row with the name of its family: the settings that differ in N alone. */
export type FamilyRow = MemoryRow & { readonly family: string };
type Colours = { readonly colourOf: (family: string) => string; readonly legend: Figure['legend'] };

const LINE = 26;
const MARGINS = 70;

/**
 * When the secret was determined, and when it was learnt, one line for each setting: the ideal learner, the ideal observer of the
 * same episodes, a table of logits, the network. Empty if only the network is known.
 */
export function toldFigure(all: readonly FamilyRow[], { colourOf, legend }: Colours): Figure[] {
  // Examples are not episodes.
  const rows = all
    .filter(({ kind, told, compared }) => kind !== 'sft' && (told !== null || compared !== null))
    .map((row) => ({ ...row, label: `${row.family} N=${row.N}` }));
  if (rows.length === 0) return [];
  type Row = (typeof rows)[number];
  const colour = ({ family }: Row) => colourOf(family);
  const at = (episodesOf: (row: Row) => number | null | undefined) =>
    rows.flatMap((row) => {
      const episodes = episodesOf(row);
      return episodes == null || !Number.isFinite(episodes) ? [] : [{ ...row, at: Math.max(1, episodes) }];
    });
  const told = at((row) => row.told?.median);
  const took = at((row) => row.medianOfAll);
  const missed = at((row) => (row.medianOfAll === Infinity ? row.budget : null));
  const ends = new Map([...took, ...missed].map((row) => [row.label, row.at]));
  const ways = told.filter(({ label }) => ends.has(label)).map((row) => ({ ...row, end: ends.get(row.label)! }));
  const place = { x: 'at', y: 'label', stroke: colour, r: 5 };
  const svg = figureSvg('episodes until the rewards determine the secret and until it is memorised', {
    ...{ height: MARGINS + LINE * rows.length, marginLeft: 190, inset: 8 },
    x: { type: 'log', label: 'episodes', grid: true, tickFormat: tickText },
    y: { type: 'point', label: null, domain: rows.map(({ label }) => label) },
    marks: [
      Plot.ruleY(ways, { y: 'label', x1: 'at', x2: 'end', stroke: colour, strokeWidth: 1.5, title: wasteText }),
      Plot.dot(
        at((row) => row.compared?.ideal),
        { ...place, symbol: 'times' },
      ),
      Plot.dot(
        at((row) => row.compared?.table),
        { ...place, symbol: 'square' },
      ),
      Plot.dot(told, place),
      Plot.dot(missed, { ...place, symbol: 'triangle' }),
      Plot.dot(took, { ...place, fill: colour }),
    ],
  });
  return [{ title: 'Told against took', svg, legend, note: noteOf(rows, missed.length > 0) }];
}

function wasteText({ label, told }: FamilyRow & { readonly label: string }): string {
  return told?.wasted == null ? label : `${label}: took ${tickText(told.wasted)} times what it was told in`;
}

function noteOf(rows: readonly FamilyRow[], isMissed: boolean): string {
  const isTold = rows.some(({ told }) => told !== null);
  const isCompared = rows.some(({ compared }) => compared !== null);
  return [
    'Filled: the median of all seeds memorised.',
    ...(isMissed ? ['Triangle: most had not when their budget ended there.'] : []),
    ...(isTold ? ['Open: the rewards of the same episodes left only one secret.'] : []),
    ...(isCompared
      ? ['Cross: an ideal learner of its own episodes. Square: policy gradient on a table of logits.']
      : []),
    ...(rows.some(({ compared }) => compared?.table === Infinity)
      ? ['No square: most tables had not memorised it when their budget ended.']
      : []),
  ].join(' ');
}

/** Medians of the other learners over N, dotted, for settings with several known sizes. */
export function comparedMarks(rows: readonly FamilyRow[], { colourOf }: Pick<Colours, 'colourOf'>): Plot.Markish[] {
  const points = rows.flatMap(({ family, N, compared }) =>
    compared === null
      ? []
      : [
          { line: `${family} ideal`, family, N, episodes: compared.ideal },
          { line: `${family} table`, family, N, episodes: compared.table ?? Infinity },
        ],
  );
  const finite = points.filter(({ episodes }) => Number.isFinite(episodes));
  if (finite.length === 0) return [];
  const stroke = ({ family }: (typeof points)[number]) => colourOf(family);
  return [
    Plot.line(finite, { x: 'N', y: 'episodes', z: 'line', stroke, strokeDasharray: '1 4', strokeWidth: 1.5 }),
    Plot.dot(finite, { x: 'N', y: 'episodes', r: 2.5, stroke }),
  ];
}
