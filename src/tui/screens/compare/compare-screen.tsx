import { Box } from 'ink';
import { cleanText } from '../../../text/display-text.js';
import { useModel, useScreen, useScreenData } from '../../model/use-model.js';
import { type Line, span } from '../../surface/span.js';
import { ChartGrid, leastChart } from '../../widgets/chart/chart-view.js';
import { Section } from '../../widgets/section.js';
import { Rows } from '../../widgets/text.js';
import type { ScreenProps } from '../screen.js';
import { ColumnsTable, RowsTable } from './compare-tables.js';
import { type Comparison, isInRows, summaryWords, tableRows } from './comparison.js';
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
