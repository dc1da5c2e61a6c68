import { type CompareView } from '../compare-choice.js';
import { isInRows } from './comparison.js';
import { type WindowModel } from './window-model.js';

type Hint = readonly [key: string, does: string];

/** What the footer says on the compare screen. */
export function compareKeys({ ui }: WindowModel): readonly Hint[] {
  const subjects = ui.screen.kind === 'compare' ? ui.screen.subjects : [];
  const { view, summary } = ui.compare;
  return [
    ...moving(view, isInRows(subjects)),
    ['Tab', nextView[view]],
    ['c', summary],
    ...acting[view],
    ['m', 'metric'],
    ...ways,
  ];
}

function moving(view: CompareView, areRows: boolean): readonly Hint[] {
  if (view === 'table')
    return areRows
      ? [
          ['↑↓', 'choose'],
          ['←→', 'scroll'],
        ]
      : [
          ['←→', 'choose'],
          ['↑↓', 'scroll'],
        ];
  return view === 'overlay'
    ? [
        ['←→', 'cursor'],
        ['↑↓', 'scroll'],
      ]
    : [['↑↓←→', 'scroll']];
}

const nextView: Record<CompareView, string> = { table: 'overlay', overlay: 'heatmap', heatmap: 'table' };
const acting: Record<CompareView, readonly Hint[]> = {
  table: [
    ['b', 'baseline'],
    ['Enter', 'open'],
  ],
  overlay: [
    ['a', 'seeds'],
    ['l', 'log'],
    ['~', 'smooth'],
  ],
  heatmap: [['x', 'axes']],
};
const ways: readonly Hint[] = [
  ['Esc', 'back'],
  ['?', 'help'],
  ['q', 'detach'],
];

/** What the footer says while the axes of the heatmap are chosen. */
export const axesKeys: readonly Hint[] = [
  ['↑↓', 'move'],
  ['Enter', 'across'],
  ['Space', 'down'],
  ['Esc', 'done'],
];

/** Words of these that a narrow footer can do without. */
export const compareFirstToGo: readonly string[] = ['log', 'smooth', 'scroll', 'seeds', 'cursor', 'choose'];

/** What the footer says on the sweep screen. */
export const sweepKeys: readonly Hint[] = [
  ['↑↓', 'scroll'],
  ['m', 'metric'],
  ['t', 'table'],
  ['c', 'compare'],
  ...ways,
];
