import type { Uses } from './use.js';

const menu = /╭─ chart ─/;
const plain = /── test\/bits_known ─+ episodes/;

/** What changes the charts: the heading of the chart beside the list says how it is drawn. */
export const chartUses: Uses = {
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
  smooth: [{ sees: [/─ ~0\.6 · episodes/, /─ ~0\.9 · episodes/, /─ ~0\.97 · episodes/, plain] }],
  chart: [
    { sees: [menu], back: ['escape'] },
    {
      where: 'twice: seeds',
      from: ['a'],
      at: menu,
      sees: [
        /─ mean ± std · episodes/,
        /─ 95 % · episodes/,
        /─ min–max · episodes/,
        /─ median · episodes/,
        /─ iqm · episodes/,
        plain,
      ],
      back: ['escape'],
    },
    { where: 'then A', sees: [menu], answer: { key: 'A', sees: /early are left out/ }, back: ['A', 'escape'] },
    { where: 'then L', sees: [menu], answer: { key: 'L', sees: /─ log x · episodes/ }, back: ['L', 'escape'] },
    { where: 'then g', sees: [menu], answer: { key: 'g', sees: /guides +lines/ }, back: ['g', 'g', 'escape'] },
    { where: 'then u', sees: [menu], answer: { key: 'u', sees: /─ cut · episodes/ }, back: ['u', 'escape'] },
    {
      where: 'then z',
      sees: [menu],
      answer: { key: 'z', sees: /─ 25–75 % · episodes/ },
      back: ['Z', 'Z', 'escape'],
    },
    {
      where: 'on the compare screen',
      from: ['c', 'a'],
      at: menu,
      sees: [
        /Runs of one group: .*95 %/,
        /Runs of one group: .*min–max/,
        /Runs of one group: .*median/,
        /Runs of one group: .*(iqm|interquartile)/i,
        /Runs of one group: .*each/,
        /Runs of one group: .*mean ± std/,
      ],
      back: ['escape', 'escape'],
    },
  ],
};
