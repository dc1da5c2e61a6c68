import { Box } from 'ink';
import { useCallback } from 'react';
import { Canvas } from '../../surface/canvas.js';
import type { Draw } from '../../surface/surface.js';
import { chartSection, type ChartSetting, sharedLegend } from './chart-section.js';
import type { ChartData } from '../../model/curves/chart-data.js';

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
export const leastChart = { width: 48, height: 10 };
const gap = 2;

type GridProps = {
  readonly charts: readonly ChartData[];
  readonly setting: ChartSetting;
  readonly width: number;
  readonly height: number;
};

/** As many charts beside and below each other as are useful; always at least one. */
export function ChartGrid({ charts, setting, width, height }: GridProps) {
  const columns = Math.max(1, Math.min(charts.length, Math.floor((width + gap) / (leastChart.width + gap)), 3));
  const rows = Math.max(1, Math.min(Math.ceil(charts.length / columns), Math.floor(height / leastChart.height)));
  const each = Math.floor((width - gap * (columns - 1)) / columns);
  return (
    <Box flexDirection="column" width={width} height={height}>
      {Array.from({ length: rows }, (_, row) => {
        const shown = charts.slice(row * columns, (row + 1) * columns);
        const tall = Math.floor((height * (row + 1)) / rows) - Math.floor((height * row) / rows);
        const legend = sharedLegend(shown, setting, each, tall);
        return (
          <Box key={row} columnGap={gap} flexShrink={0}>
            {shown.map((data) => (
              <Chart key={data.metric} width={each} height={tall} {...{ data, setting, legend }} />
            ))}
          </Box>
        );
      })}
    </Box>
  );
}
