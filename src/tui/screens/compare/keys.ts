import { chartRows, moveCursor, unzoomed } from '../../keys/chart-handler.js';
import {
  distance,
  type Handler,
  type KeyContext,
  type Movement,
  opens,
  type Pressed,
  refuse,
} from '../../keys/key-context.js';
import {
  always,
  enterKey,
  escapeKey,
  type KeyTable,
  leftKey,
  movementRows,
  rightKey,
  type Short,
  tabKey,
  within,
} from '../../keys/key-row.js';
import type { WindowModel } from '../../model/window-model.js';
import {
  type CompareView,
  compareViews,
  type HeatmapAxes,
  type Subject,
  valueSummaries,
} from '../../state/compare-choice.js';
import { menuAt, type ScreenOf, type UiState } from '../../state/ui-state.js';
import { pin } from './compare-subjects.js';
import { cleanText } from '../../../text/display-text.js';
import type { Direction } from './compare-value.js';
import { isInRows } from './comparison.js';

/** `at`: the item under the cursor; `top` and `left`: first visible line and column. */
type CompareState = {
  readonly subjects: readonly Subject[];
  readonly at: number;
  readonly top: number;
  readonly left: number;
};
type CompareScreen = ScreenOf<'compare'>;

declare module '../../state/ui-state.js' {
  interface Screens {
    readonly compare: CompareState;
  }
}
declare module '../../state/command.js' {
  interface Commands {
    readonly compare: 'compare' | 'baseline';
  }
}

/** What the keys of the screen need to know of the comparison. */
export type CompareContext = {
  /** Number of lines or rows to scroll through. `columns`: number of columns. */
  readonly length: number;
  readonly columns: number;
  /** Possible axes of the heatmap. `usualAxes`: the default ones. */
  readonly axes: readonly string[];
  readonly usualAxes: HeatmapAxes | null;
  /** Keys of subjects with a value, from best to worst by a metric; null: none has a value. */
  readonly ranking: { readonly keys: readonly string[]; readonly metric: string; readonly direction: Direction } | null;
};

type Shown = {
  readonly ui: UiState;
  readonly screen: CompareScreen;
  readonly at: KeyContext;
  readonly own: CompareContext;
};
type OnScreen = (shown: Shown) => Pressed;

/** Keys of the compare screen. */
export const compareKeys: KeyTable = {
  rows: [
    ...movementRows(
      (ui, movement, at) => onScreen((shown) => travel(shown, movement))(ui, at, ''),
      (model) => (isChosenByRow(model) ? 'choose' : 'scroll'),
    ),
    {
      ...{ command: 'left', ...leftKey, group: 'move', short: sidewaysWord, hint: '←→', worth: 2 },
      help: 'to the left: what is under the cursor, the cursor of the curves, or the columns',
      act: onScreen((shown) => sideways(shown, -1)),
    },
    {
      ...{ command: 'right', ...rightKey, group: 'move', help: 'to the right, likewise' },
      act: onScreen((shown) => sideways(shown, 1)),
    },
    {
      ...{ command: 'next-pane', ...tabKey, group: 'move', worth: 6, act: onScreen(nextView) },
      help: 'the next view: table, overlay, heatmap',
      short: ({ ui }) => viewAfter(ui.compare.view),
    },
    {
      ...{ command: 'compare', keys: ['c'], group: 'charts', worth: 6, act: nextSummary },
      help: 'the value of a run: last, best, mean of last 10, auc (area under the curve), at cursor; the next one',
      short: ({ ui }) => ui.compare.summary,
    },
    {
      ...{ command: 'baseline', keys: ['b'], group: 'charts', short: inView('table', 'baseline'), worth: 5 },
      help: 'pin what is under the cursor as the baseline',
      act: onScreen(pinSubject),
    },
    {
      ...{ command: 'sort', keys: ['s'], group: 'charts', short: inView('table', 'sort'), act: onScreen(sortSubjects) },
      help: 'order what is compared by the first metric, the best first; again: the worst first',
    },
    {
      ...{ command: 'open', ...enterKey, group: 'move', short: inView('table', 'open'), worth: 5 },
      help: 'open what is under the cursor',
      act: onScreen(openSubject),
    },
    {
      ...{ command: 'x-axis', keys: ['x'], group: 'charts' },
      help: 'the axes of the heatmap; in the overlay: the x axis',
      short: inView('heatmap', 'axes'),
      worth: 5,
      act: onScreen(chooseAxes),
    },
    ...chartRows({
      metric: { short: 'metric', worth: 4 },
      'log-y': { short: inView('overlay', 'log') },
      smooth: { short: inView('overlay', 'smooth') },
      chart: { short: inView('overlay', 'chart') },
    }).filter(({ command }) => command !== 'x-axis'),
    {
      ...{ command: 'back', ...escapeKey, group: 'window', short: 'back', worth: always },
      help: 'zoom out; back to the list',
      act: (ui) => unzoomed(ui) ?? { ui: { ...ui, screen: { kind: 'jobs' } } },
    },
  ],
  about: () => 'charts',
  refusal: ({ shown }) => `${shown} acts on the list of runs; Esc goes back to it.`,
};

/** A word that the footer shows only in one view. */
function inView(view: CompareView, word: string): Short {
  return ({ ui }) => (ui.compare.view === view ? word : null);
}

function isChosenByRow({ ui: { screen, compare } }: WindowModel): boolean {
  return compare.view === 'table' && screen.kind === 'compare' && isInRows(screen.subjects);
}

function sidewaysWord(model: WindowModel): string | null {
  const { view } = model.ui.compare;
  if (view === 'table') return isChosenByRow(model) ? 'scroll' : 'choose';
  return view === 'overlay' ? 'cursor' : 'scroll';
}

function onScreen(act: OnScreen): Handler {
  return (ui, at) =>
    ui.screen.kind === 'compare' ? act({ ui, screen: ui.screen, at, own: at.own as CompareContext }) : { ui };
}

/** Moves the cursor if each subject has a row, otherwise scrolls. */
function travel({ ui, screen, at, own }: Shown, movement: Movement): Pressed {
  const way = distance(movement, at.page);
  if (ui.compare.view === 'table' && isInRows(screen.subjects)) return pointAt(ui, screen, screen.at + way);
  const top = within(screen.top + way, own.length - at.page);
  if (top === screen.top) return refuse(ui, way > 0 ? 'This is the end.' : 'This is the top.');
  return { ui: { ...ui, screen: { ...screen, top } } };
}

function sideways({ ui, screen, at, own }: Shown, way: -1 | 1): Pressed {
  if (ui.compare.view === 'table' && !isInRows(screen.subjects)) return pointAt(ui, screen, screen.at + way);
  if (ui.compare.view === 'overlay') return moveCursor(ui, way < 0 ? 'left' : 'right', at);
  const left = within(screen.left + way, own.columns - 1);
  if (left === screen.left) return refuse(ui, way > 0 ? 'There is nothing further right.' : 'This is the left end.');
  return { ui: { ...ui, screen: { ...screen, left } } };
}

function pointAt(ui: UiState, screen: CompareScreen, wanted: number): Pressed {
  const index = within(wanted, screen.subjects.length - 1);
  if (index === screen.at) return refuse(ui, index === 0 ? 'This is the first one.' : 'This is the last one.');
  return { ui: { ...ui, screen: { ...screen, at: index } } };
}

function pinSubject({ ui, screen, at }: Shown): Pressed {
  const subject = screen.subjects[screen.at];
  if (subject === undefined) return refuse(ui, 'There is nothing to pin.');
  return pin(ui, subject.key, subject.label, `${at.keyOf('baseline')} again unpins it.`);
}

/** Sorts the subjects; the cursor stays on its subject. Subjects without a value come last in either direction. */
function sortSubjects({ ui, screen, own: { ranking } }: Shown): Pressed {
  if (ranking === null) return refuse(ui, 'There are no values to order by yet.');
  const { keys, metric, direction } = ranking;
  const known = keys.flatMap((key) => screen.subjects.find((subject) => subject.key === key) ?? []);
  const others = screen.subjects.filter(({ key }) => !keys.includes(key));
  const isSorted = known.every(({ key }, index) => key === screen.subjects[index]!.key);
  const subjects = [...(isSorted ? known.toReversed() : known), ...others];
  const at = Math.max(
    0,
    subjects.findIndex(({ key }) => key === screen.subjects[screen.at]?.key),
  );
  const first = direction === null ? ['highest', 'lowest'] : ['best', 'worst'];
  const text = `Ordered by ${cleanText(metric)}, the ${first[Number(isSorted)]!} first.`;
  return { ui: { ...ui, screen: { ...screen, subjects, at }, note: { text, tone: 'dim' } } };
}

/** Selects the row of the subject under the cursor and opens it, unfolding the branches that contain it. */
function openSubject({ ui, screen, at: { branches } }: Shown): Pressed {
  const subject = screen.subjects[screen.at];
  if (subject === undefined) return refuse(ui, 'There is nothing to open.');
  const holders = branches.values().filter(({ key, runs }) => key !== subject.key && holdsAll(runs, subject.ids));
  const isShown = holders.length > 0 || branches.has(subject.key);
  if (!isShown) return refuse(ui, `${subject.label} is hidden by the filter; Esc goes back to the list.`);
  const folds = new Map([...ui.folds, ...holders.map(({ key }) => [key, false] as const)]);
  return { ui: { ...ui, folds, selected: subject.key, screen: { kind: 'run', pane: 'log', offset: 0 } } };
}

function holdsAll(runs: readonly { readonly id: string }[], ids: readonly string[]): boolean {
  const first = ids[0];
  return runs.length >= ids.length && runs.some(({ id }) => id === first);
}

function viewAfter(view: CompareView): CompareView {
  return compareViews[(compareViews.indexOf(view) + 1) % compareViews.length]!;
}

function nextView({ ui, screen }: Shown): Pressed {
  const compare = { ...ui.compare, view: viewAfter(ui.compare.view) };
  return { ui: { ...ui, compare, screen: { ...screen, top: 0, left: 0 } } };
}

/** Switches to the next summary; `at cursor` is skipped while the charts have no cursor. */
function nextSummary(ui: UiState): Pressed {
  const known = valueSummaries.filter((summary) => summary !== 'at cursor' || ui.chart.cursor !== null);
  const summary = known[(known.indexOf(ui.compare.summary) + 1) % known.length]!;
  return { ui: { ...ui, compare: { ...ui.compare, summary }, note: { text: `Values: ${summary}.`, tone: 'dim' } } };
}

function chooseAxes({ ui, screen, at, own }: Shown): Pressed {
  if (ui.compare.view === 'overlay') return opens('x-axis')(ui, at, '');
  const { axes, usualAxes } = own;
  if (axes.length === 0) return refuse(ui, 'These runs have the same parameters, so there is no heatmap.');
  return {
    ui: {
      ...ui,
      screen: { ...screen, top: 0, left: 0 },
      compare: { ...ui.compare, view: 'heatmap', axes: usualAxes },
      dialog: { kind: 'axes', ...menuAt(0), keys: axes },
    },
  };
}
