import type { ChartCommand } from '../../../src/tui/state/command.js';
import { not, type Use } from './use.js';

const plain = /── test\/bits_known ─+ episodes/;

/** What changes the charts: the heading of the chart beside the list says how it is drawn. */
export const chartUses: Record<ChartCommand, readonly Use[]> = {
  metric: [{ sees: [/╭─ metric/], back: ['escape'] }],
  'x-axis': [
    { sees: [/╭─ x axis/], back: ['escape'] },
    {
      where: 'in the heatmap',
      from: ['c', 'tab', 'tab'],
      at: /── compare · heatmap/,
      sees: [/╭─ axes of the heatmap/],
      back: ['escape', 'tab', 'escape'],
    },
  ],
  'log-y': [{ sees: [/─ log y · episodes/, plain] }],
  'log-x': [{ sees: [/─ log x · episodes/, plain] }],
  smooth: [{ sees: [/─ ~0\.6 · episodes/, /─ ~0\.9 · episodes/, /─ ~0\.97 · episodes/, plain] }],
  spread: [
    {
      sees: [
        /─ mean ± std · episodes/,
        /─ 95 % · episodes/,
        /─ min–max · episodes/,
        /─ median · episodes/,
        /─ iqm · episodes/,
        plain,
      ],
    },
    {
      where: 'on the compare screen',
      from: ['c'],
      at: /── compare · table/,
      sees: [
        /Runs of one group: .*95 %/,
        /Runs of one group: .*min–max/,
        /Runs of one group: .*median/,
        /Runs of one group: .*(iqm|interquartile)/i,
        /Runs of one group: .*each/,
        /─ mean ± std · episodes/,
      ],
      back: ['escape'],
    },
  ],
  carry: [{ sees: [/runs that ended early are left out/, /runs that ended early count on/] }],
  clip: [{ sees: [/─ cut · episodes/, plain] }],
  'zoom-in': [{ sees: [/─ 25–75 % · episodes/, not(/─ 25–75 % · episodes/)], back: ['Z', 'Z'] }],
  'zoom-out': [{ from: ['z'], at: /─ 25–75 % · episodes/, sees: [plain] }],
};
