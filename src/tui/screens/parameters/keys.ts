import { type Handler, type KeyContext, type Movement, opens, type Pressed, refuse } from '../../keys/key-context.js';
import {
  enterKey,
  type KeyRow,
  type KeyTable,
  leftKey,
  movementRows,
  placeAfter,
  rightKey,
  type Short,
  tabKey,
  topAfter,
  within,
} from '../../keys/key-row.js';
import type { WindowModel } from '../../model/window-model.js';
import type { RunSummary } from '../../state/port.js';
import type { ScreenOf, UiState } from '../../state/ui-state.js';
import { pin } from '../compare/compare-subjects.js';
import type { Column } from './axis.js';
import { chosenAxis, chosenIndex, scaleOf, shownRank, type Study, uprightsOf } from './study.js';

/** The ranking of parameters, and how it is shown. Parameters are referred to by name, because their order changes as runs end. */
type ParametersState = {
  readonly view: ParametersView;
  /** The parameter under the cursor; null: the most important one. */
  readonly parameter: string | null;
  /** The other axis of the plot; null: the metric. */
  readonly against: string | null;
  /** What distinguishes runs in the scatter plot; null: nothing. */
  readonly groupBy: string | null;
  /** Rank of the run beside the baseline; 0 is the best. */
  readonly rank: number;
  /** Whether to use the ranks of runs instead of their values; null: chosen according to the values. */
  readonly byRank: boolean | null;
  /** First visible line. */
  readonly top: number;
};
export type ParametersScreen = ScreenOf<'parameters'>;

export const parametersViews = ['importance', 'parallel', 'scatter', 'best'] as const;
type ParametersView = (typeof parametersViews)[number];

declare module '../../state/ui-state.js' {
  interface Screens {
    readonly parameters: ParametersState;
  }
}
declare module '../../state/command.js' {
  interface Commands {
    readonly parameters: 'parameters' | 'ranks';
  }
}

/** What the keys of the screen need to know. */
export type ParametersContext = { readonly study: Study | null };

const first: ParametersScreen = {
  ...{ kind: 'parameters', view: 'importance', parameter: null, against: null, groupBy: null },
  ...{ rank: 0, byRank: null, top: 0 },
};

/** The key that opens the parameters screen. */
export const parametersOpener: KeyRow = {
  ...{ command: 'parameters', keys: ['M'], group: 'charts' },
  help: 'the parameters that matter for the metric, and the best run beside a baseline',
  short: ({ ui }) => (ui.screen.kind === 'jobs' || ui.screen.kind === 'sweep' ? 'what matters' : null),
  act: (ui) =>
    ui.screen.kind === 'parameters'
      ? refuse(ui, 'These are the parameters; Esc goes back.')
      : { ui: { ...ui, screen: first } },
};

/** Keys of the parameters screen. */
export const parametersKeys: KeyTable = {
  rows: [
    ...movementRows(
      (ui, movement, at) => onScreen((shown) => travel(shown, movement))(ui, at, ''),
      (model) => (viewOf(model) === 'best' ? 'scroll' : 'parameter'),
    ),
    {
      ...{ command: 'left', ...leftKey, group: 'move', short: sidewaysWord, hint: '←→', worth: 5 },
      help: 'the parameter, the other column or the run before',
      act: onScreen((shown) => sideways(shown, -1)),
    },
    {
      ...{ command: 'right', ...rightKey, group: 'move', help: 'the parameter, the other column or the run after' },
      act: onScreen((shown) => sideways(shown, 1)),
    },
    {
      ...{ command: 'next-pane', ...tabKey, group: 'move', worth: 6, act: nextView },
      help: 'the next view: importance, parallel coordinates, scatter plot, best run',
      short: (model) => viewAfter(viewOf(model)),
    },
    {
      ...{ command: 'open', ...enterKey, group: 'move', worth: 5, act: onScreen(open) },
      help: 'the scatter plot of the parameter; in the other views: open the best run, or the one beside the baseline',
      short: (model) => (viewOf(model) === 'importance' ? 'scatter' : 'open run'),
    },
    {
      ...{ command: 'metric', keys: ['m'], group: 'charts', short: 'metric', worth: 4, act: opens('metrics') },
      help: 'choose the metric that the parameters are to explain',
    },
    {
      ...{ command: 'ranks', keys: ['u'], group: 'charts', act: onScreen(toggleRanks) },
      help: 'ignore outliers: explain the order of the runs, not how far they lie apart; again: their values',
      short: inViews('outliers', 'importance'),
    },
    {
      ...{ command: 'group', keys: ['g'], group: 'charts', act: onScreen(nextGrouping) },
      help: 'tell the runs of the scatter plot apart by another parameter: the next one',
      short: inViews('tell apart by', 'scatter'),
    },
    {
      ...{ command: 'baseline', keys: ['b'], group: 'charts', act: onScreen(pinShown) },
      help: 'pin the run that is beside the baseline as the baseline; again: unpin it',
      short: inViews('baseline', 'best'),
    },
  ],
  about: () => 'charts',
  refusal: ({ shown }) => `${shown} acts on the list of runs; Esc goes back to it.`,
};

type Shown = {
  readonly ui: UiState;
  readonly screen: ParametersScreen;
  readonly study: Study;
  readonly at: KeyContext;
};

/** A handler that acts only if there is something to show. */
function onScreen(act: (shown: Shown) => Pressed): Handler {
  return (ui, at) => {
    const { study } = at.own as ParametersContext;
    if (ui.screen.kind !== 'parameters') return { ui };
    if (study === null) return refuse(ui, 'There is nothing to choose from yet.');
    return act({ ui, screen: ui.screen, study, at });
  };
}

function viewOf({ ui: { screen } }: WindowModel): ParametersView {
  return screen.kind === 'parameters' ? screen.view : 'importance';
}

function inViews(word: string, ...views: readonly ParametersView[]): Short {
  return (model) => (views.includes(viewOf(model)) ? word : null);
}

function sidewaysWord(model: WindowModel): string | null {
  const words: Record<ParametersView, string | null> = {
    ...{ importance: null, parallel: 'parameter', scatter: 'other column', best: 'other run' },
  };
  return words[viewOf(model)];
}

function changed({ ui, screen }: Shown, change: Partial<ParametersScreen>): Pressed {
  return { ui: { ...ui, screen: { ...screen, ...change } } };
}

/** Moves between parameters, or scrolls the comparison. */
function travel(shown: Shown, movement: Movement): Pressed {
  const { screen, at } = shown;
  if (screen.view !== 'best') return choose(shown, (from, length) => placeAfter(from, movement, { length, page: 8 }));
  const top = topAfter(screen.top, movement, at);
  if (top === screen.top) return refuse(shown.ui, top === 0 ? 'This is the top.' : 'This is the end.');
  return changed(shown, { top });
}

function choose(shown: Shown, place: (from: number, length: number) => number): Pressed {
  const isParallel = shown.screen.view === 'parallel';
  const parameters = isParallel ? shown.study.parallel : shown.study.parameters;
  const from = (isParallel ? chosenAxis : chosenIndex)(shown.study, shown.screen);
  if (from === null) return refuse(shown.ui, 'No parameter varies over these runs.');
  const to = place(from, parameters.length);
  if (to === from) return refuse(shown.ui, to === 0 ? 'This is the first parameter.' : 'This is the last parameter.');
  return changed(shown, { parameter: parameters[to]!.name });
}

function sideways(shown: Shown, way: -1 | 1): Pressed {
  const { ui, screen, study } = shown;
  switch (screen.view) {
    case 'importance':
      return refuse(ui, '↑ ↓ choose the parameter; in the scatter plot ← → choose the other column.');
    case 'parallel':
      return choose(shown, (from, length) => within(from + way, length - 1));
    case 'scatter': {
      const columns = uprightsOf(study, screen);
      const from = columns.findIndex(({ name }) => name === screen.against);
      return changed(shown, { against: nameAt(columns, Math.max(0, from) + way) });
    }
    case 'best': {
      const last = study.ranking.length - 1;
      const rank = within(shownRank(study, screen) + way, last);
      if (rank === screen.rank) return refuse(ui, rank === 0 ? 'This is the first run.' : 'This is the last run.');
      return changed(shown, { rank });
    }
  }
}

/** The column at a position, wrapping around after the last one; null: the metric, which is the first. */
function nameAt(columns: readonly Column[], place: number): string | null {
  const at = (place + columns.length) % columns.length;
  return at === 0 ? null : columns[at]!.name;
}

function viewAfter(view: ParametersView): ParametersView {
  return parametersViews[(parametersViews.indexOf(view) + 1) % parametersViews.length]!;
}

/** Switches to the next view, even if there is nothing to show yet. */
function nextView(ui: UiState): Pressed {
  const { screen } = ui;
  if (screen.kind !== 'parameters') return { ui };
  return { ui: { ...ui, screen: { ...screen, view: viewAfter(screen.view), top: 0 } } };
}

function open(shown: Shown): Pressed {
  const { ui, screen, study } = shown;
  if (screen.view === 'importance') return changed(shown, { view: 'scatter' });
  const run = study.runs[study.ranking[screen.view === 'best' ? shownRank(study, screen) : 0] ?? -1];
  return run === undefined ? refuse(ui, 'No finished run has a value.') : openRun(shown, run);
}

/** Selects the row of the run and opens it, unfolding the branches that contain it. */
function openRun({ ui, at: { branches } }: Shown, { id, name }: RunSummary): Pressed {
  const holders = [...branches.values()].filter(({ runs }) => runs.some((run) => run.id === id));
  if (holders.length === 0) return refuse(ui, `${name} is hidden by the filter; Esc goes back to the list.`);
  const folds = new Map([...ui.folds, ...holders.map(({ key }) => [key, false] as const)]);
  return { ui: { ...ui, folds, selected: id, screen: { kind: 'run', pane: 'charts', offset: 0 } } };
}

function toggleRanks(shown: Shown): Pressed {
  const byRank = scaleOf(shown.study) !== 'rank';
  const text = byRank
    ? 'Explained is the order of the runs: outliers count no more than others.'
    : 'Explained are the values of the runs.';
  const { ui } = changed(shown, { byRank });
  return { ui: { ...ui, note: { text, tone: 'dim' } } };
}

function nextGrouping(shown: Shown): Pressed {
  const { ui, screen, study } = shown;
  if (screen.view === 'best' || screen.view === 'parallel')
    return refuse(ui, 'Runs are told apart in the scatter plot; Tab leads to it.');
  const names = [null, ...study.groupings.map(({ name }) => name)];
  if (names.length === 1) return refuse(ui, 'No parameter has so few values that runs could be told apart by it.');
  const groupBy = names[(names.indexOf(screen.groupBy) + 1) % names.length]!;
  return changed(shown, { groupBy });
}

function pinShown(shown: Shown): Pressed {
  const { ui, screen, study, at } = shown;
  const run = study.runs[study.ranking[shownRank(study, screen)] ?? -1];
  if (screen.view !== 'best' || run === undefined)
    return refuse(ui, 'Tab leads to the best run beside the baseline, where a run can be pinned.');
  return pin(ui, run.id, run.name, `${at.keyOf('baseline')} again unpins it.`);
}
