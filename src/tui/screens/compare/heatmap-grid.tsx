import { Box } from 'ink';
import { cleanText } from '../../../text/display-text.js';
import { textWidth } from '../../../text/display-width.js';
import { narrowNumber } from '../../../text/numbers.js';
import { type Background, fit, fitLine, fitLineRight, fitRight, type Line, span } from '../../surface/span.js';
import { scalarText } from '../../widgets/parameters.js';
import { Row, Rows, Section } from '../../widgets/text.js';
import type { Sample } from './compare-value.js';
import type { Heatmap } from './heatmap.js';

const leastCell = 10;
const widestCell = 16;
const tallest = 4;
/** Steps of the ramp; blocks of different heights distinguish them without colours. */
const steps = '▁▂▃▄▅▆▇';

/** Position of the visible part of a large heatmap. */
type Place = { readonly top: number; readonly left: number };
type Room = { readonly width: number; readonly height: number };
type Frame = {
  label: number;
  cell: number;
  /** Columns of the longest number. */
  number: number;
  rows: number;
  columns: readonly number[];
  lines: readonly number[];
  low: number;
  high: number;
};

const gap = 3;

type GridProps = Room & { readonly maps: readonly Heatmap[]; readonly place: Place };

/** As many heatmaps beside and below each other as are readable; always at least one. */
export function HeatmapGrid({ maps, place, width, height }: GridProps) {
  const needs = roomOf(maps[0]!);
  const columns = Math.max(1, Math.min(maps.length, Math.floor((width + gap) / (needs.width + gap))));
  const rows = Math.max(1, Math.min(Math.ceil(maps.length / columns), Math.floor(height / needs.height)));
  const room = { width: Math.floor((width - gap * (columns - 1)) / columns), height: Math.floor(height / rows) };
  return (
    <Box flexDirection="column" width={width} height={height} overflow="hidden">
      {Array.from({ length: rows }, (_, row) => {
        const shown = maps.slice(row * columns, (row + 1) * columns);
        const frames = shown.map((map) => frameOf(map, place, room));
        const tall = Math.max(...frames.map(({ lines, rows: each }) => lines.length * each)) + 4;
        return (
          <Box key={row} columnGap={gap} flexShrink={0} height={Math.min(room.height, tall + 1)} overflow="hidden">
            {shown.map((map, index) => (
              <OneHeatmap key={index} map={map} frame={frames[index]!} width={room.width} />
            ))}
          </Box>
        );
      })}
    </Box>
  );
}

/** Room that a heatmap needs: with cells of two lines, and with the narrowest cells. */
function roomOf(map: Heatmap): Room {
  return { width: labelWidth(map, Infinity) + map.across.length * leastCell, height: map.down.length * 2 + 6 };
}

type HeatmapProps = { readonly map: Heatmap; readonly frame: Frame; readonly width: number };

/** A metric over two parameters; each cell has a colour from a ramp and its number. */
function OneHeatmap({ map, frame, width }: HeatmapProps) {
  const isRange = map.cells.some((row) => row.some((sample) => sample?.kind === 'range'));
  const { across, down } = map.axes;
  const title = map.part === '' ? cleanText(map.metric) : `${cleanText(map.metric)} · ${cleanText(map.part)}`;
  const notes: Line = [
    ...(isRange ? [span('greatest', 'faint')] : []),
    ...(map.mixes.length > 0 ? [span(` cells mix ${cleanText(map.mixes.join(', '))}`, 'warn')] : []),
  ];
  const corner: Line = down === null ? [] : [span(` ${cleanText(down)} ↓`, 'dim')];
  return (
    <Section title={title} right={notes} width={width}>
      <Row
        line={[...fitLine(corner, frame.label), span(`  ${cleanText(across)} →`, 'dim'), ...hiddenWords(map, frame)]}
      />
      <Row line={columnLabels(map, frame)} />
      <Rows lines={frame.lines.flatMap((row) => bandOf(map, row, frame))} />
      <Row line={rampLine(map, frame)} />
    </Section>
  );
}

function frameOf(map: Heatmap, { top, left }: Place, { width, height }: Room): Frame {
  const label = labelWidth(map, width);
  const fair = Math.floor((width - label) / map.across.length);
  const cell = Math.max(leastCell, Math.min(widestCell, fair));
  const shownColumns = Math.max(1, Math.min(map.across.length, Math.floor((width - label) / cell)));
  const rows = Math.max(1, Math.min(tallest, Math.floor((height - 5) / map.down.length)));
  const shownRows = Math.max(1, Math.min(map.down.length, Math.floor((height - 5) / rows)));
  const means = map.cells.flatMap((line) => line.map(middle)).filter((value) => value !== null);
  return {
    label,
    cell,
    number: Math.max(1, ...means.map((value) => narrowNumber(value).length)),
    rows,
    columns: range(Math.min(left, map.across.length - shownColumns), shownColumns),
    lines: range(Math.min(top, map.down.length - shownRows), shownRows),
    low: means.reduce((least, value) => Math.min(least, value), Infinity),
    high: means.reduce((most, value) => Math.max(most, value), -Infinity),
  };
}

function labelWidth(map: Heatmap, width: number): number {
  const labels = map.down.map((value) => textWidth(scalarText(value)) + 2);
  const name = map.axes.down === null ? 0 : textWidth(cleanText(map.axes.down)) + 3;
  return Math.max(2, Math.min(24, Math.floor(width / 4), Math.max(name, ...labels)));
}

function range(from: number, count: number): number[] {
  return Array.from({ length: count }, (_, index) => from + index);
}

function hiddenWords(map: Heatmap, { columns, lines }: Frame): Line {
  const hidden = [
    columns.length < map.across.length
      ? `columns ${columns[0]! + 1}–${columns.at(-1)! + 1} of ${map.across.length}`
      : '',
    lines.length < map.down.length ? `rows ${lines[0]! + 1}–${lines.at(-1)! + 1} of ${map.down.length}` : '',
  ].filter((part) => part !== '');
  return hidden.length === 0 ? [] : [span(`   ${hidden.join(' · ')}`, 'accent')];
}

function columnLabels(map: Heatmap, frame: Frame): Line {
  const labels = frame.columns.map((column) => centred(scalarText(map.across[column]), frame.cell));
  return [...fitLine([], frame.label), span(labels.join(''), 'strong')];
}

/** One row of cells, as many lines high as there is room for, with the number in the middle line. */
function bandOf(map: Heatmap, row: number, frame: Frame): Line[] {
  const middleLine = (frame.rows - 1) >> 1;
  return Array.from({ length: frame.rows }, (_, line): Line => {
    const name = line === middleLine && map.axes.down !== null ? scalarText(map.down[row]) : '';
    const cells = frame.columns.flatMap((column) =>
      cellLine(map.cells[row]![column] ?? null, map.counts[row]![column]!, frame, line === middleLine),
    );
    return [
      ...fitLineRight([span(fit(name, Math.min(textWidth(name), frame.label - 2)), 'strong')], frame.label - 1),
      span(' '),
      ...cells,
    ];
  });
}

function cellLine(sample: Sample | null, count: number, { cell, number, low, high }: Frame, hasText: boolean): Line {
  const value = middle(sample);
  if (value === null && isNotFinite(sample)) return [span(centred(hasText ? 'NaN' : '', cell), 'bad')];
  if (value === null) return [span(centred(hasText ? (count === 0 ? '·' : '–') : '', cell), 'faint')];
  const step = stepOf(value, low, high);
  const mark = isNotFinite(sample) ? '!' : '';
  const text = hasText ? `${steps[step]} ${fitRight(narrowNumber(value), number)}${mark}` : '';
  return [{ text: centred(text, cell), tone: 'plain', ground: heatGrounds[step]! }];
}

const heatGrounds: readonly Background[] = ['heat0', 'heat1', 'heat2', 'heat3', 'heat4', 'heat5', 'heat6'];

/** Step from 0 (lowest) to 6 (highest); the middle one if all values are equal. */
function stepOf(value: number, low: number, high: number): number {
  if (!(high > low)) return 3;
  const share = (value / 2 - low / 2) / (high / 2 - low / 2);
  return Math.min(steps.length - 1, Math.floor(share * steps.length));
}

/** The mean, or the greatest value if the direction is not known. Null: no run has a value. */
function middle(sample: Sample | null): number | null {
  const value = sample === null ? Number.NaN : sample.kind === 'mean' ? sample.mean : sample.high;
  return Number.isFinite(value) ? value : null;
}

/** Whether a run at that point has a NaN or infinite value. */
function isNotFinite(sample: Sample | null): boolean {
  return sample !== null && sample.nan + sample.infinite > 0;
}

function rampLine(map: Heatmap, { label, low, high }: Frame): Line {
  const indent = span(' '.repeat(Math.min(label, 4)));
  if (low > high) return [indent, span(`no run has a value of ${cleanText(map.metric)} yet`, 'dim')];
  const ramp = [...steps].map((glyph, step) => ({
    text: ` ${glyph} `,
    tone: 'plain' as const,
    ground: heatGrounds[step]!,
  }));
  const words = [span(`${narrowNumber(low)} `, 'value'), ...ramp, span(` ${narrowNumber(high)}`, 'value')];
  return [indent, ...words, ...missingWords(map)];
}

function missingWords({ cells, counts }: Heatmap): Line {
  const all = counts.flatMap((row, y) => row.map((count, x) => ({ count, sample: cells[y]![x]! })));
  const words = [
    all.some(({ count }) => count === 0) ? '· no run' : '',
    all.some(({ count, sample }) => count > 0 && sample === null) ? '– no value' : '',
    all.some(({ sample }) => isNotFinite(sample)) ? '! some NaN' : '',
  ].filter((word) => word !== '');
  return words.length === 0 ? [] : [span(`   ${words.join('   ')}`, 'faint')];
}

function centred(text: string, width: number): string {
  const cut = fit(text, Math.min(textWidth(text), width));
  const left = (width - textWidth(cut)) >> 1;
  return fit(' '.repeat(left) + cut, width);
}
