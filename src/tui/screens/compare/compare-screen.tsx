import { Box } from 'ink';
import { useCallback } from 'react';
import { bestOnes } from '../../../analysis/best-first.js';
import { cleanText } from '../../../text/display-text.js';
import { textWidth } from '../../../text/display-width.js';
import { narrowNumber } from '../../../text/numbers.js';
import type { ChartData } from '../../model/chart-data.js';
import { useModel, useScreen, useScreenData } from '../../model/use-model.js';
import { Canvas } from '../../surface/ink-window.js';
import { fit, type Line, lineWidth, onBackground, span } from '../../surface/span.js';
import type { Draw } from '../../surface/surface.js';
import { chartSection, type ChartSetting, sharedLegend } from '../../widgets/chart/chart-section.js';
import { shortKey } from '../../widgets/line-parts.js';
import { scrollTo } from '../../model/selection.js';
import { type Column, Table } from '../../widgets/table.js';
import { Row, Rows, Section } from '../../widgets/text.js';
import type { ScreenProps } from '../screen.js';
import {
  bestCell,
  bodyRows,
  type ComparedMetric,
  type ComparedSubject,
  type Comparison,
  deltaCell,
  headRows,
  isInRows,
  metricName,
  sampleCell,
  summaryWords,
  tableRows,
  valuesText,
  withoutCommon,
} from './comparison.js';
import { deltaOf, rankedSamples } from './compare-value.js';
import { HeatmapGrid } from './heatmap-grid.js';

/** The marked runs or groups beside each other: a table, their curves, or heatmaps. */
export function CompareScreen({ size: { width, height } }: ScreenProps) {
  const comparison = useScreenData<Comparison>('compare');
  const view = useModel(({ ui }) => ui.compare.view);
  const part = { comparison, width, height: height - 1 };
  return (
    <Box width={width} height={height} flexDirection="column" overflow="hidden">
      {comparison.subjects.length === 0 ? (
        <Rows lines={[[span(' None of these runs exists any more; Esc goes back.', 'dim')]]} />
      ) : (
        <Section title={`compare · ${view}`} right={headingWords(comparison, view === 'table')} width={width}>
          {view === 'table' && <TableView {...part} />}
          {view === 'overlay' && <Overlay {...part} />}
          {view === 'heatmap' && <Heatmaps {...part} />}
        </Section>
      )}
    </Box>
  );
}

type Part = { readonly comparison: Comparison; readonly width: number; readonly height: number };

/** The table, and curves of its metrics below it if they would be large enough. */
function TableView({ comparison, width, height }: Part) {
  const { charts, setting } = comparison;
  const rows = Math.min(height, tableRows(comparison));
  const free = height - rows - 1;
  const Table = isInRows(comparison.subjects) ? RowsTable : ColumnsTable;
  return (
    <>
      <Table comparison={comparison} width={width} height={rows} />
      {free >= leastChart.height && charts.length > 0 && (
        <Box marginTop={1} flexShrink={0}>
          <ChartGrid
            charts={charts.slice(0, Math.max(1, Math.floor(width / leastChart.width)))}
            {...{ setting, width }}
            height={free}
          />
        </Box>
      )}
    </>
  );
}

/** Curves of all subjects, one chart per metric from the first visible one on. */
function Overlay({ comparison: { charts, setting }, width, height }: Part) {
  const { top } = useScreen('compare');
  const shown = charts.slice(Math.min(top, Math.max(0, charts.length - 1)));
  return <ChartGrid charts={shown} {...{ setting, width, height }} />;
}

function Heatmaps({ comparison: { heatmaps, metrics }, width, height }: Part) {
  const place = useScreen('compare');
  if (heatmaps.length > 0) return <HeatmapGrid maps={heatmaps} {...{ place, width, height }} />;
  const why =
    metrics.length === 0
      ? 'No run has written a metric yet.'
      : 'These runs differ in their seeds alone: there is no axis for a heatmap.';
  return <Rows lines={[[], [span(`  ${why} Tab shows the table.`, 'dim')]]} />;
}

/** What the values are, and the number of runs. */
function headingWords(comparison: Comparison, isTable: boolean): Line {
  const { subjects, curves, baseline } = comparison;
  const reading = curves.read < curves.wanted ? `reading ${curves.read} of ${curves.wanted} · ` : '';
  const part =
    curves.wanted > 0 && curves.wanted < curves.of ? `curves of ${curves.wanted} of ${curves.of} runs · ` : '';
  const isUneven = isTable && comparison.metrics.some(({ behind }) => behind.some((count) => count > 0));
  const pinned = baseline === null ? 'b pins a baseline' : `baseline ${cleanText(subjects[baseline]!.label)}`;
  return [
    span(`${reading}${part}${isUneven ? '* some runs are behind · ' : ''}`, 'warn'),
    span(`${subjects.length} compared · ${curves.of} runs · `, 'faint'),
    span(summaryWords(comparison), 'accent'),
    span(` · ${pinned}`, 'faint'),
  ];
}

/** `height`: rows of the table with its heading. */
type Props = { readonly comparison: Comparison; readonly width: number; readonly height: number };

/** Something that is compared, with a cell for each visible subject. */
type Compared = { readonly name: Line; readonly cells: readonly Line[] };
/** The columns of the visible subjects, and their widths. */
type Frame = { name: number; cell: number; from: number; count: number };

const least = 16;
const widest = 26;
const gap = 2;

/** A column for each subject: below its name the parameters that differ and the metrics, which scroll. */
function ColumnsTable({ comparison, width, height }: Props) {
  const { at, top } = useScreen('compare');
  const frame = frameOf(comparison, at, width);
  const columns: Column<Compared>[] = [
    { width: frame.name, gap: 0, cell: ({ name }) => name },
    ...Array.from({ length: frame.count }, (_, index): Column<Compared> => {
      return { width: frame.cell, isRight: true, cell: ({ cells }) => cells[index]! };
    }),
  ];
  const table = { columns, width, heading: null };
  const settings = parameterItems(comparison, frame);
  const room = Math.max(1, height - headRows);
  const rows = bodyRows(comparison);
  // What does not fit leaves a row for the number of hidden lines.
  const page = rows <= room ? rows : Math.max(1, room - 1);
  const first = Math.max(0, Math.min(top, rows - page));
  const below = rows - first - page;
  return (
    <>
      <Table {...table} items={headingItems(comparison, frame, at)} />
      <Box height={page} flexDirection="column" overflow="hidden" flexShrink={0}>
        <Box flexDirection="column" flexShrink={0} marginTop={-first}>
          {settings.length === 0 ? (
            <Row line={[span('   no parameter differs', 'dim')]} />
          ) : (
            <Section title="parameters that differ" width={width}>
              <Table {...table} items={settings} />
            </Section>
          )}
          <Row line={[]} />
          <Section title="metrics" right={[span(summaryWords(comparison), 'accent')]} width={width}>
            <Table {...table} items={comparison.metrics.flatMap((metric) => metricItems(metric, comparison, frame))} />
          </Section>
        </Box>
      </Box>
      {below > 0 && <Row line={[span(` ${below} more lines ↓`, 'accent')]} />}
      {below <= 0 && first > 0 && <Row line={[span(' the end', 'faint')]} />}
    </>
  );
}

function frameOf({ subjects, parameters, metrics }: Comparison, at: number, width: number): Frame {
  const names = [...parameters, ...metrics].map(({ key }) => textWidth(cleanText(key)) + 5);
  const name = Math.max(12, Math.min(Math.floor(width * 0.3), 34, Math.max(0, ...names)));
  const wanted = Math.max(0, ...subjects.map(({ label }) => textWidth(cleanText(label))));
  const fair = Math.floor((width - name) / Math.max(1, subjects.length)) - gap;
  const cell = Math.max(least, Math.min(widest, Math.max(wanted, Math.min(fair, 20))));
  const count = Math.max(1, Math.min(subjects.length, Math.floor((width - name) / (cell + gap))));
  const from = Math.max(0, Math.min(at - count + 1, subjects.length - count));
  return { name, cell, from, count };
}

/** The names of the subjects, and below them their numbers of runs. */
function headingItems({ subjects, baseline }: Comparison, frame: Frame, at: number): Compared[] {
  const names = withoutCommon(
    shown(subjects, frame).map(({ label }) => cleanText(label)),
    frame.cell,
  );
  const labels = names.map((name, index): Line => {
    // The whole column is marked, not only the name.
    const cell = [span(fit('', frame.cell - textWidth(name))), span(name, 'strong')];
    return frame.from + index === at ? onBackground(cell, 'selected') : cell;
  });
  const counts = shown(subjects, frame).map(({ runs }, index): Line => {
    const pinned = frame.from + index === baseline ? [span('baseline · ', 'accent')] : [];
    return [...pinned, span(runs.length === 1 ? '1 run' : `${runs.length} runs`, 'faint')];
  });
  const more = moreWords(frame.from, subjects.length - frame.from - frame.count, ' ');
  return [
    { name: more, cells: labels },
    { name: [], cells: counts },
  ];
}

/** `← 2  3 → more`: what is hidden on either side; empty if nothing is. */
function moreWords(before: number, after: number, indent: string): Line {
  const words = [before > 0 ? `← ${before}` : '', after > 0 ? `${after} →` : ''].filter((part) => part !== '');
  return words.length === 0 ? [] : [span(`${indent}${words.join('  ')} more`, 'accent')];
}

function parameterItems({ parameters }: Comparison, frame: Frame): Compared[] {
  return parameters.map(({ key, cells }) => {
    const words = withoutCommon(
      shown(cells, frame).map((values) => valuesText(values, frame.cell)),
      frame.cell,
    );
    return {
      name: [span(` ${fit(cleanText(key), frame.name - 2)}`, 'dim')],
      cells: words.map((text) => [span(text, text === '–' ? 'faint' : 'plain')]),
    };
  });
}

/** The values, and below them their distances from the baseline. */
function metricItems(metric: ComparedMetric, { subjects, baseline }: Comparison, frame: Frame): Compared[] {
  const { values, deltas } = cellsOf(metric, subjects, baseline);
  const name: Line = [span(` ${metricName(metric, frame.name - 2)}`, 'plain')];
  const first = { name, cells: shown(values, frame) };
  if (deltas === null) return [first];
  return [first, { name: [span('   to the baseline', 'faint')], cells: shown(deltas, frame) }];
}

/** A metric of every subject, the best marked; `deltas`: the distances from the baseline; null: there is none. */
function cellsOf(
  { cells, direction, unread, behind }: ComparedMetric,
  subjects: readonly ComparedSubject[],
  baseline: number | null,
): { values: Line[]; deltas: Line[] | null } {
  const best = bestOnes(rankedSamples(cells), direction, narrowNumber);
  const values = cells.map((sample, index) => {
    const cell = sampleCell(sample, subjects[index]!.runs.length, { unread: unread[index]!, behind: behind[index]! });
    return best.has(index) ? bestCell(cell) : cell;
  });
  if (baseline === null) return { values, deltas: null };
  const base = cells[baseline] ?? null;
  const deltas = cells.map((sample, index) => (index === baseline ? [] : deltaCell(deltaOf(sample, base, direction))));
  return { values, deltas };
}

function shown<T>(items: readonly T[], { from, count }: Frame): readonly T[] {
  return items.slice(from, from + count);
}

const longestName = 36;
const widestCell = 24;

/** One row per subject; only the visible ones are drawn. */
function RowsTable({ comparison, width, height }: Props) {
  const { at, left } = useScreen('compare');
  const { subjects, baseline } = comparison;
  const room = Math.max(1, height - 1);
  const top = scrollTo(at, Math.max(0, at - (room >> 1)), room, subjects.length);
  const visible = subjects.slice(top, top + room).map((_, index) => top + index);
  const names = visible.map((index) => textWidth(cleanText(subjects[index]!.label)));
  const name = Math.min(Math.max(0, ...names), longestName, Math.floor(width * 0.4)) + 3;
  const all = subjectColumns(comparison);
  const fitting = fittingColumns(all.slice(left), visible, width - name);
  const labels: Column<ComparedSubject> = {
    ...{ title: moreWords(left, all.length - left - fitting.length, '   '), width: name, gap: 0 },
    cell: ({ label }, index) => [
      span(index === baseline ? ' ▸ ' : '   ', 'accent'),
      span(cleanText(label), index === baseline ? 'strong' : 'plain'),
    ],
  };
  return <Table columns={[labels, ...fitting]} items={subjects} {...{ width, height, at, top }} />;
}

function subjectColumns({ subjects, parameters, metrics, baseline }: Comparison): Column<ComparedSubject>[] {
  const ofCells = (title: string, cells: readonly Line[]): Column<ComparedSubject> => ({
    title,
    cell: (_, index) => cells[index]!,
  });
  const settings = parameters.map(({ key, cells }) => {
    const texts = withoutCommon(
      cells.map((values) => valuesText(values, 14)),
      widestCell,
    );
    return ofCells(
      cleanText(key),
      texts.map((text) => [span(text)]),
    );
  });
  const values = metrics.flatMap((metric) => {
    const { values: own, deltas } = cellsOf(metric, subjects, baseline);
    const title = metricName({ key: shortKey(metric.key), direction: metric.direction }, widestCell);
    return [ofCells(title, own), ...(deltas === null ? [] : [ofCells('to baseline', deltas)])];
  });
  const counts = subjects.map(({ runs }): Line => [span(String(runs.length), 'dim')]);
  const hasGroups = subjects.some(({ runs }) => runs.length > 1);
  return [...(hasGroups ? [ofCells('runs', counts)] : []), ...settings, ...values];
}

/** As many columns as fit, each as wide as its visible cells; always at least one. */
function fittingColumns(
  columns: readonly Column<ComparedSubject>[],
  visible: readonly number[],
  room: number,
): Column<ComparedSubject>[] {
  const fitted: Column<ComparedSubject>[] = [];
  let used = 0;
  for (const column of columns) {
    const cells = visible.map((index) => lineWidth(column.cell(undefined!, index)));
    const width = Math.min(Math.max(6, textWidth(column.title as string), ...cells), widestCell);
    used += gap + width;
    if (fitted.length > 0 && used > room) break;
    fitted.push({ ...column, width, isRight: true });
  }
  return fitted;
}

type ChartProps = {
  readonly data: ChartData;
  readonly setting: ChartSetting;
  readonly width: number;
  readonly height: number;
  /** Rows of the legend, if they must match those of its neighbours. */
  readonly legend?: number;
};

/** The curves of one metric with a heading and a legend. */
function Chart({ data, setting, width, height, legend }: ChartProps) {
  const draw = useCallback<Draw>(
    (size) => chartSection(data, setting, { ...size, ...(legend === undefined ? {} : { legend }) }),
    [data, setting, legend],
  );
  return <Canvas width={width} height={height} flexShrink={0} draw={draw} />;
}

/** Minimum size of a useful chart. */
const leastChart = { width: 48, height: 10 };
const chartGap = 2;

type GridProps = {
  readonly charts: readonly ChartData[];
  readonly setting: ChartSetting;
  readonly width: number;
  readonly height: number;
};

/** As many charts beside and below each other as are useful; always at least one. */
function ChartGrid({ charts, setting, width, height }: GridProps) {
  const columns = Math.max(
    1,
    Math.min(charts.length, Math.floor((width + chartGap) / (leastChart.width + chartGap)), 3),
  );
  const rows = Math.max(1, Math.min(Math.ceil(charts.length / columns), Math.floor(height / leastChart.height)));
  const each = Math.floor((width - chartGap * (columns - 1)) / columns);
  return (
    <Box flexDirection="column" width={width} height={height}>
      {Array.from({ length: rows }, (_, row) => {
        const shown = charts.slice(row * columns, (row + 1) * columns);
        const tall = Math.floor((height * (row + 1)) / rows) - Math.floor((height * row) / rows);
        const legend = sharedLegend(shown, setting, each, tall);
        return (
          <Box key={row} columnGap={chartGap} flexShrink={0}>
            {shown.map((data) => (
              <Chart key={data.metric} width={each} height={tall} {...{ data, setting, legend }} />
            ))}
          </Box>
        );
      })}
    </Box>
  );
}
