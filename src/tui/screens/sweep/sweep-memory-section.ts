import { cleanText } from '../../../text/display-text.js';
import { textWidth } from '../../../text/display-width.js';
import { fitLineRight } from '../compare/compare-cells.js';
import { sectionRule } from '../../widgets/section.js';
import { narrowNumber } from '../../../text/numbers.js';
import { fit, fitLine, type Line, span } from '../../surface/span.js';
import type { MemoryRow } from './sweep-memory.js';
import type { SweepOverview } from './sweep-overview.js';

/** Columns of the numbers beside the bar: memorised, bits known, episodes, bits per episode, share of the ceiling. */
const columns = { memorised: 7, known: 14, episodes: 9, bits: 10, share: 18 };
type ColumnName = keyof typeof columns;
/** Columns that are dropped to make room for the bars, first to last. */
const spare: readonly ColumnName[] = ['episodes', 'known'];
const gap = 2;
/** Minimum width of a useful bar. */
const leastBar = 20;

type Axis = { readonly low: number; readonly high: number };
type Frame = {
  readonly label: number;
  readonly shown: readonly ColumnName[];
  readonly bar: number;
  readonly axis: Axis | null;
};

/**
 * Bits learnt per episode in every setting, with the capacity of an episode, on a logarithmic axis, because they differ by orders
 * of magnitude.
 */
export function memorySection({ memory, curves, titles }: SweepOverview, width: number): Line[] {
  if (memory.length === 0) return [];
  const frame = frameOf(memory, width);
  const rows = memory.flatMap((row, index): Line[] => {
    const isFirst = row.group !== memory[index - 1]?.group;
    const title = titles.get(row.group) ?? null;
    const heading = [
      span(` ${cleanText(row.group)}`, 'title'),
      span(title === null ? '' : `  ${cleanText(title)}`, 'dim'),
    ];
    return [...(isFirst ? [heading] : []), memoryRow(row, frame)];
  });
  const reading = curves.read < curves.wanted ? `reading ${curves.read} of ${curves.wanted} curves` : '';
  const part = curves.wanted < curves.of ? `from ${curves.wanted} of ${curves.of} runs` : '';
  const right = reading !== '' ? reading : part;
  return [
    sectionRule('bits per episode', right === '' ? [] : [span(right, 'warn')], width),
    headings(frame),
    ...rows,
    ...(frame.axis === null ? [] : [ruler(frame, frame.axis)]),
    [],
  ];
}

function frameOf(memory: readonly MemoryRow[], width: number): Frame {
  const label = Math.min(22, Math.max(8, ...memory.map((row) => textWidth(row.label)))) + 3;
  let shown = Object.keys(columns) as ColumnName[];
  const room = (): number => width - label - gap - shown.reduce((sum, name) => sum + columns[name] + gap, 0);
  for (const name of spare) if (room() < leastBar) shown = shown.filter((kept) => kept !== name);
  const bar = room();
  const axis = bar < leastBar ? null : axisOf(memory);
  return { label, shown, bar: axis === null ? 0 : Math.min(bar, 90), axis };
}

/** The axis from the decade below all rates and ceilings to the greatest of them. */
function axisOf(memory: readonly MemoryRow[]): Axis | null {
  const values = memory
    .flatMap(({ bits, ceiling }) => [ceiling, ...(bits === null ? [] : [bits.bits])])
    .filter((value) => value > 0);
  if (values.length === 0) return null;
  const low = Math.floor(Math.log10(Math.min(...values)) - 1e-9);
  return { low, high: Math.max(Math.log10(Math.max(...values)), low + 1) };
}

function headings({ label, shown, bar }: Frame): Line {
  const names = {
    memorised: 'learnt',
    known: 'bits known',
    episodes: 'episodes',
    bits: 'bits/ep.',
    share: 'of the ceiling',
  };
  const cells = shown.map((key) => fit('', gap) + fit('', columns[key] - names[key].length) + names[key]);
  return [span(`${fit(' setting', label)}${fit('', bar === 0 ? 0 : bar + gap)}${cells.join('')}`, 'faint')];
}

function memoryRow(row: MemoryRow, { label, shown, bar, axis }: Frame): Line {
  const name = fitLine([span(`   ${cleanText(row.label)}`)], label);
  const isAll = row.memorised === row.runs;
  const cells: Record<ColumnName, Line> = {
    // Before the curves have been read, it is not known whether a run has memorised.
    memorised: row.isRead
      ? [span(`${row.memorised}/${row.runs}`, isAll ? 'good' : row.missed > 0 ? 'warn' : 'dim')]
      : [span('–', 'faint')],
    known:
      row.known === null
        ? [span('–', 'faint')]
        : [span(narrowNumber(row.known), 'value'), span(` of ${narrowNumber(row.secretBits)}`, 'dim')],
    episodes: [span(episodesText(row.episodes), 'plain')],
    bits:
      row.bits === null
        ? [span('–', 'faint')]
        : [span(`${row.bits.kind === 'below' ? '< ' : ''}${narrowNumber(row.bits.bits)}`, 'value')],
    share: shareCell(row),
  };
  const numbers = shown.flatMap((key) => [span(' '.repeat(gap)), ...fitLineRight(cells[key], columns[key])]);
  return [...name, ...(axis === null ? [] : [...barOf(row, bar, axis), span(' '.repeat(gap))]), ...numbers];
}

function episodesText(episodes: number | null): string {
  if (episodes === null) return '–';
  return Number.isFinite(episodes) ? narrowNumber(Math.round(episodes)) : 'never';
}

/** `0.14% of 3 bits` */
function shareCell({ bits, ceiling }: MemoryRow): Line {
  const whole = span(` of ${narrowNumber(ceiling)} bit${ceiling === 1 ? '' : 's'}`, 'dim');
  if (bits === null || !(ceiling > 0)) return [span('–', 'faint'), whole];
  const percent = (bits.bits / ceiling) * 100;
  const text = percent >= 10 ? percent.toFixed(0) : String(Number(percent.toPrecision(2)));
  return [span(`${bits.kind === 'below' ? '<' : ''}${text}%`, 'strong'), whole];
}

/** The rate as a bar, with the ceiling as a stop at its end. An upper bound is drawn thin. */
function barOf({ bits, ceiling }: MemoryRow, width: number, axis: Axis): Line {
  const place = (value: number): number => {
    const share = (Math.log10(value) - axis.low) / (axis.high - axis.low);
    return Math.min(width - 1, Math.max(0, Math.round(share * (width - 1))));
  };
  const end = bits === null || bits.bits <= 0 ? 0 : Math.max(1, place(bits.bits));
  const stop = ceiling > 0 ? Math.max(end, place(ceiling)) : width;
  const isBound = bits?.kind === 'below';
  return [
    span((isBound ? '╌' : '━').repeat(end), isBound ? 'dim' : 'accent'),
    span('·'.repeat(Math.max(0, stop - end)), 'faint'),
    span(stop < width ? '┃' : '', 'warn'),
    span(' '.repeat(Math.max(0, width - stop - 1))),
  ];
}

/** The decades below the bars. */
function ruler({ label, bar }: Frame, { low, high }: Axis): Line {
  let text = '';
  for (let decade = low; decade <= high; decade++) {
    const column = Math.round(((decade - low) / (high - low)) * (bar - 1));
    const word = decade < -4 || decade > 4 ? `1e${decade}` : String(Number(`1e${decade}`));
    const start = Math.max(0, Math.min(bar - word.length, column - (word.length >> 1)));
    if (text !== '' && start <= text.length) continue;
    text = text.padEnd(start) + word;
  }
  return [
    span(' '.repeat(label)),
    span(fit(text, bar), 'faint'),
    span(`${' '.repeat(gap)}━ learnt per episode  ┃ the most one can carry`, 'faint'),
  ];
}
