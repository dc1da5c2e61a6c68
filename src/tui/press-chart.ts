import { type ChartChoice, spreads } from './chart-choice.js';
import { type ChartCommand } from './command.js';
import { type Obey, type Pressed, refuse } from './situation.js';
import { type UiState } from './ui-state.js';

const smoothings = [0, 0.6, 0.9, 0.97];

export const obeyChart: Record<ChartCommand, Obey> = {
  'x-axis': (ui) => refuse(ui, 'There is no other x axis.'),
  'log-y': (ui) => choose(ui, { isLogY: !ui.chart.isLogY }, `y: ${ui.chart.isLogY ? 'linear' : 'logarithmic'}.`),
  'log-x': (ui) => choose(ui, { isLogX: !ui.chart.isLogX }, `x: ${ui.chart.isLogX ? 'linear' : 'logarithmic'}.`),
  smooth: (ui) => {
    const smoothing = smoothings[(smoothings.indexOf(ui.chart.smoothing) + 1) % smoothings.length]!;
    return choose(ui, { smoothing }, smoothing === 0 ? 'Not smoothed.' : `Smoothed: ${smoothing}.`);
  },
  spread: (ui) => {
    const spread = spreads[(spreads.indexOf(ui.chart.spread) + 1) % spreads.length]!;
    return choose(ui, { spread }, `Seeds: ${spread}.`);
  },
  clip: (ui) =>
    choose(ui, { isClipped: !ui.chart.isClipped }, ui.chart.isClipped ? 'All values.' : 'Outliers left out.'),
  'zoom-in': (ui) => refuse(ui, 'There is no chart to zoom into.'),
  'zoom-out': (ui) => refuse(ui, 'All of it is shown.'),
};

function choose(ui: UiState, change: Partial<ChartChoice>, text: string): Pressed {
  return { ui: { ...ui, chart: { ...ui.chart, ...change }, note: { text, tone: 'dim' } } };
}
