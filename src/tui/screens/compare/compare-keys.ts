import type { Command } from '../../state/command.js';
import type { CompareView } from '../../state/compare-choice.js';
import { keyOf } from '../../app/key-map.js';
import type { UiState } from '../../state/ui-state.js';
import { isInRows } from './comparison.js';
import type { WindowModel } from '../../model/window-model.js';

type Hint = readonly [key: string, does: string];
type Bound = readonly [command: Command, does: string];

/** What the footer says on the compare screen. */
export function compareKeys({ ui }: WindowModel): readonly Hint[] {
  const subjects = ui.screen.kind === 'compare' ? ui.screen.subjects : [];
  const { view, summary } = ui.compare;
  const bound = ([command, does]: Bound): Hint => [keyOf(command, ui.keys), does];
  return [
    ...moving(view, isInRows(subjects)),
    ['Tab', nextView[view]],
    bound(['compare', summary]),
    ...acting[view].map(bound),
    bound(['metric', 'metric']),
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
const acting: Record<CompareView, readonly Bound[]> = {
  table: [
    ['baseline', 'baseline'],
    ['open', 'open'],
  ],
  overlay: [
    ['spread', 'seeds'],
    ['log-y', 'log'],
    ['smooth', 'smooth'],
  ],
  heatmap: [['x-axis', 'axes']],
};
const ways: readonly Hint[] = [
  ['Esc', 'back'],
  ['?', 'help'],
  ['q', 'detach'],
];

/** Words of these that a narrow footer can do without. */
export const compareFirstToGo: readonly string[] = ['log', 'smooth', 'scroll', 'seeds', 'cursor', 'choose'];

/** What the footer says on the sweep screen. */
export function sweepKeys({ keys }: UiState): readonly Hint[] {
  const named = (['metric', 'table', 'compare'] as const).map((command): Hint => [keyOf(command, keys), command]);
  return [['↑↓', 'scroll'], ...named, ...ways];
}
