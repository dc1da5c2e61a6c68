import * as Plot from '@observablehq/plot';
import type { Figure } from './curve-figures.js';
import { figureSvg, palette } from './figure.js';
import { coloursOf } from './mode-families.js';
import type { LinePanel, SeedPoint } from './overview-data.js';
import { ticksOf } from './value-axis.js';

type Point = SeedPoint & { readonly condition: string };

/**
 * Rewards during training over the steps, a small figure each: means with bands of ±1 standard deviation and from least to most.
 */
export function linePanelFigures(panels: readonly LinePanel[]): Figure[] {
  const conditions = [...new Set(panels.flatMap(({ lines }) => lines.map(({ condition }) => condition)))];
  const colours = coloursOf(conditions, palette);
  const legend = conditions.map((text) => ({ text, colour: colours.get(text)! }));
  return panels.map((panel) => ({
    title: panel.title,
    svg: panelSvg(panel, ({ condition }) => colours.get(condition)!),
    legend,
    note: '',
    isSmall: true,
  }));
}

function panelSvg({ title, metric, lines }: LinePanel, colour: (point: Point) => string): string {
  const points = lines.flatMap(({ condition, points: own }) => own.map((point): Point => ({ ...point, condition })));
  const values = points.flatMap(({ mean, least, most }) => [mean, least, most]);
  const spread = points.filter(({ sd }) => sd !== null);
  const band = { x: 'x', z: 'condition', fill: colour };
  return figureSvg(`${title}: ${metric} over the steps`, {
    ...{ width: 420, height: 280 },
    x: {
      label: 'step',
      nice: true,
      tickFormat: ticksOf(
        points.map(({ x }) => x),
        false,
      ),
    },
    y: { label: metric, grid: true, nice: true, tickFormat: ticksOf(values, false) },
    marks: [
      Plot.areaY(spread, { ...band, y1: 'least', y2: 'most', fillOpacity: 0.1 }),
      Plot.areaY(spread, {
        ...{ ...band, fillOpacity: 0.2 },
        y1: ({ mean, sd }: Point) => mean - sd!,
        y2: ({ mean, sd }: Point) => mean + sd!,
      }),
      Plot.lineY(points, { x: 'x', y: 'mean', z: 'condition', stroke: colour, strokeWidth: 2 }),
    ],
  });
}
