import { Box } from 'ink';
import { cleanText } from '../../../text/display-text.js';
import { textWidth } from '../../../text/display-width.js';
import { narrowNumber } from '../../../text/numbers.js';
import { fit, type Line, span } from '../../surface/span.js';
import { Section } from '../../widgets/section.js';
import { type Column, Table, tableWidth } from '../../widgets/table.js';
import { Row } from '../../widgets/text.js';
import type { MemoryRow } from './sweep-memory.js';
import type { SweepOverview } from './sweep-overview.js';

/** Maximum columns of the bars, and the minimum of useful ones. */
const widestBar = 90;
const leastBar = 20;

type Axis = { readonly low: number; readonly high: number };

/**
 * Bits learnt per episode in every setting, with the capacity of an episode, on a logarithmic axis, because they differ by orders
 * of magnitude.
 */
export function MemorySection({ overview, width }: { readonly overview: SweepOverview; readonly width: number }) {
  const { memory, curves, titles } = overview;
  if (memory.length === 0) return null;
  const { columns, label, bar, axis } = layoutOf(memory, width);
  const reading = curves.read < curves.wanted ? `reading ${curves.read} of ${curves.wanted} curves` : '';
  const part = curves.wanted < curves.of ? `from ${curves.wanted} of ${curves.of} runs` : '';
  const right = reading !== '' ? reading : part;
  const groups = [...new Set(memory.map(({ group }) => group))];
  return (
    <Box marginBottom={1} flexShrink={0}>
      <Section title="bits per episode" right={right === '' ? [] : [span(right, 'warn')]} width={width}>
        <Table columns={columns} items={[]} width={width} />
        {groups.map((group) => (
          <Box key={group} flexDirection="column" flexShrink={0}>
            <Row line={groupHeading(group, titles.get(group) ?? null)} />
            <Table {...{ columns, width }} items={memory.filter((row) => row.group === group)} heading={null} />
          </Box>
        ))}
        {axis !== null && <Row line={ruler(label, bar, axis)} />}
      </Section>
    </Box>
  );
}

function groupHeading(group: string, title: string | null): Line {
  return [span(` ${cleanText(group)}`, 'title'), span(title === null ? '' : `  ${cleanText(title)}`, 'dim')];
}

type Layout = {
  readonly columns: Column<MemoryRow>[];
  readonly label: number;
  readonly bar: number;
  /** Null: there is no room for bars. */
  readonly axis: Axis | null;
};

function layoutOf(memory: readonly MemoryRow[], width: number): Layout {
  const label = Math.min(22, Math.max(8, ...memory.map((row) => textWidth(row.label)))) + 3;
  const setting: Column<MemoryRow> = {
    ...{ title: ' setting', width: label, gap: 0 },
    cell: (row) => [span(`   ${cleanText(row.label)}`)],
  };
  // Columns are dropped to make room for the bars.
  let shown = numbers;
  const room = (): number => width - tableWidth([setting, ...shown]) - 2;
  for (const spare of ['episodes', 'bits known'])
    if (room() < leastBar) shown = shown.filter(({ title }) => title !== spare);
  const axis = room() < leastBar ? null : axisOf(memory);
  if (axis === null) return { columns: [setting, ...shown], label, bar: 0, axis };
  const bar = Math.min(room(), widestBar);
  const bars: Column<MemoryRow> = { title: '', width: bar + 2, gap: 0, cell: (row) => barOf(row, bar, axis) };
  return { columns: [setting, bars, ...shown], label, bar, axis };
}

/** The numbers beside the bar. */
const numbers: Column<MemoryRow>[] = [
  {
    ...{ title: 'learnt', width: 7, isRight: true },
    // Before the curves have been read, it is not known whether a run has memorised.
    cell: ({ isRead, memorised, runs, missed }) =>
      isRead
        ? [span(`${memorised}/${runs}`, memorised === runs ? 'good' : missed > 0 ? 'warn' : 'dim')]
        : [span('–', 'faint')],
  },
  {
    ...{ title: 'bits known', width: 14, isRight: true },
    cell: ({ known, secretBits }) =>
      known === null
        ? [span('–', 'faint')]
        : [span(narrowNumber(known), 'value'), span(` of ${narrowNumber(secretBits)}`, 'dim')],
  },
  { title: 'episodes', width: 9, isRight: true, cell: ({ episodes }) => [span(episodesText(episodes), 'plain')] },
  {
    ...{ title: 'bits/ep.', width: 10, isRight: true },
    cell: ({ bits }) =>
      bits === null
        ? [span('–', 'faint')]
        : [span(`${bits.kind === 'below' ? '< ' : ''}${narrowNumber(bits.bits)}`, 'value')],
  },
  { title: 'of the ceiling', width: 18, isRight: true, cell: shareCell },
];

/** The axis from the decade below all rates and ceilings to the greatest of them. */
function axisOf(memory: readonly MemoryRow[]): Axis | null {
  const values = memory
    .flatMap(({ bits, ceiling }) => [ceiling, ...(bits === null ? [] : [bits.bits])])
    .filter((value) => value > 0);
  if (values.length === 0) return null;
  const low = Math.floor(Math.log10(Math.min(...values)) - 1e-9);
  return { low, high: Math.max(Math.log10(Math.max(...values)), low + 1) };
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
  ];
}

/** The decades below the bars. */
function ruler(label: number, bar: number, { low, high }: Axis): Line {
  let text = '';
  for (let decade = low; decade <= high; decade++) {
    const column = Math.round(((decade - low) / (high - low)) * (bar - 1));
    const word = decade < -4 || decade > 4 ? `1e${decade}` : String(Number(`1e${decade}`));
    const start = Math.max(0, Math.min(bar - word.length, column - (word.length >> 1)));
    if (text !== '' && start <= text.length) continue;
    text = text.padEnd(start) + word;
  }
  const legend = '  ━ learnt per episode  ┃ the most one can carry';
  return [span(' '.repeat(label)), span(fit(text, bar), 'faint'), span(legend, 'faint')];
}
