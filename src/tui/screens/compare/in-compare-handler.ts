import { spreads } from '../../state/chart-choice.js';
import type { Command } from '../../state/command.js';
import { compareViews, valueSummaries } from '../../state/compare-choice.js';
import { menuAt } from '../../state/menu-state.js';
import { keyOf } from '../../app/key-map.js';
import { handleBesideList } from '../../app/beside-list-handler.js';
import { moveCursor, handleChart } from '../../app/chart-handler.js';
import { pin } from './compare-handler.js';
import { distance, type Movement, type Handler, type Pressed, refuse, type KeyContext } from '../../app/key-context.js';
import type { CompareScreen, UiState } from '../../state/ui-state.js';
import { spreadNames } from '../../widgets/chart/chart-legend.js';
import { isInRows } from './comparison.js';

type OnScreen = (ui: UiState, screen: CompareScreen, at: KeyContext) => Pressed;

/** What keys do on the compare screen that they do not do elsewhere. */
export const handleInCompare: Partial<Record<Command, Handler>> = {
  ...handleBesideList,
  up: onScreen((ui, screen, at) => travel(ui, screen, 'up', at)),
  down: onScreen((ui, screen, at) => travel(ui, screen, 'down', at)),
  'page-up': onScreen((ui, screen, at) => travel(ui, screen, 'page-up', at)),
  'page-down': onScreen((ui, screen, at) => travel(ui, screen, 'page-down', at)),
  first: onScreen((ui, screen, at) => travel(ui, screen, 'first', at)),
  last: onScreen((ui, screen, at) => travel(ui, screen, 'last', at)),
  fold: onScreen((ui, screen, at) => sideways(ui, screen, -1, at)),
  unfold: onScreen((ui, screen, at) => sideways(ui, screen, 1, at)),
  open: onScreen(openSubject),
  'next-pane': onScreen(nextView),
  compare: onScreen(nextSummary),
  baseline: onScreen((ui, { subjects, at }) => {
    const subject = subjects[at];
    return subject === undefined
      ? refuse(ui, 'There is nothing to pin.')
      : pin(ui, subject.key, subject.label, `${keyOf('baseline', ui.keys)} again unpins it.`);
  }),
  'x-axis': onScreen(chooseAxes),
  spread: onScreen((ui) => {
    const spread = spreads[(spreads.indexOf(ui.compare.spread) + 1) % spreads.length]!;
    const text = `Runs of one group: ${spreadNames[spread]}.`;
    return { ui: { ...ui, compare: { ...ui.compare, spread }, note: { text, tone: 'dim' } } };
  }),
};

function onScreen(act: OnScreen): Handler {
  return (ui, at) => (ui.screen.kind === 'compare' ? act(ui, ui.screen, at) : { ui });
}

/** Where each thing compared has a row the cursor moves; else the lines do. */
function travel(ui: UiState, screen: CompareScreen, movement: Movement, at: KeyContext): Pressed {
  const way = distance(movement, at.page);
  if (ui.compare.view === 'table' && isInRows(screen.subjects)) return pointAt(ui, screen, screen.at + way);
  const top = within(screen.top + way, at.screenLength - at.page);
  if (top === screen.top) return refuse(ui, way > 0 ? 'This is the end.' : 'This is the top.');
  return { ui: { ...ui, screen: { ...screen, top } } };
}

function sideways(ui: UiState, screen: CompareScreen, way: -1 | 1, at: KeyContext): Pressed {
  if (ui.compare.view === 'table' && !isInRows(screen.subjects)) return pointAt(ui, screen, screen.at + way);
  if (ui.compare.view === 'overlay') return moveCursor(ui, way < 0 ? 'left' : 'right', at);
  const left = within(screen.left + way, (at.screenColumns ?? 1) - 1);
  if (left === screen.left) return refuse(ui, way > 0 ? 'There is nothing further right.' : 'This is the left end.');
  return { ui: { ...ui, screen: { ...screen, left } } };
}

function pointAt(ui: UiState, screen: CompareScreen, wanted: number): Pressed {
  const index = within(wanted, screen.subjects.length - 1);
  if (index === screen.at) return refuse(ui, index === 0 ? 'This is the first one.' : 'This is the last one.');
  return { ui: { ...ui, screen: { ...screen, at: index } } };
}

function within(value: number, last: number): number {
  return Math.max(0, Math.min(last, value));
}

/** Goes to the row of the thing under the cursor and opens it; what is folded away is unfolded. */
function openSubject(ui: UiState, { subjects, at: index }: CompareScreen, at: KeyContext): Pressed {
  const subject = subjects[index];
  if (subject === undefined) return refuse(ui, 'There is nothing to open.');
  const holders = at.branches.values().filter(({ key, runs }) => key !== subject.key && holdsAll(runs, subject.ids));
  const isShown = holders.length > 0 || at.branches.has(subject.key);
  if (!isShown) return refuse(ui, `${subject.label} is hidden by the filter; Esc goes back to the list.`);
  const folds = new Map([...ui.folds, ...holders.map(({ key }) => [key, false] as const)]);
  return { ui: { ...ui, folds, selected: subject.key, screen: { kind: 'open', pane: 'log', offset: 0 } } };
}

function holdsAll(runs: readonly { readonly id: string }[], ids: readonly string[]): boolean {
  const first = ids[0];
  return runs.length >= ids.length && runs.some(({ id }) => id === first);
}

function nextView(ui: UiState, screen: CompareScreen): Pressed {
  const view = compareViews[(compareViews.indexOf(ui.compare.view) + 1) % compareViews.length]!;
  return { ui: { ...ui, compare: { ...ui.compare, view }, screen: { ...screen, top: 0, left: 0 } } };
}

/** `at cursor` has a meaning only while the charts have a cursor. */
function nextSummary(ui: UiState): Pressed {
  const known = valueSummaries.filter((summary) => summary !== 'at cursor' || ui.chart.cursor !== null);
  const summary = known[(known.indexOf(ui.compare.summary) + 1) % known.length]!;
  return { ui: { ...ui, compare: { ...ui.compare, summary }, note: { text: `Values: ${summary}.`, tone: 'dim' } } };
}

function chooseAxes(ui: UiState, screen: CompareScreen, at: KeyContext): Pressed {
  if (ui.compare.view === 'overlay') return handleChart['x-axis'](ui, at, 'x');
  const axes = at.axes ?? [];
  if (axes.length === 0) return refuse(ui, 'These runs have the same parameters, so there is no heatmap.');
  const view = 'heatmap' as const;
  return {
    ui: {
      ...ui,
      screen: { ...screen, top: 0, left: 0 },
      compare: { ...ui.compare, view },
      dialog: { kind: 'axes', ...menuAt(0) },
    },
  };
}
