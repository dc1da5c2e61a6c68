import type { QueryProblem } from '../../query/query.js';
import { type ChartChoice, initialChartChoice } from './chart-choice.js';
import { type CompareChoice, initialCompareChoice, type Subject } from './compare-choice.js';
import type { Draft } from './editor-port.js';
import type { Effect } from './effect.js';
import { type Grouping, initialGrouping } from './grouping.js';
import type { EditedLine } from './line-editor.js';
import type { ColumnId } from './list-column-id.js';
import type { MenuState } from './menu-state.js';
import { initialLogChoice, type LogChoice } from './log-choice.js';
import type { RunId } from './port.js';
import { initialPanes, type PaneSizes } from './pane-sizes.js';
import type { KeyMapping, SavedView } from './preferences-port.js';
import type { Offer, Recall } from './prompt.js';
import { initialSampleChoice, type SampleChoice } from './sample-choice.js';
import { initialWallChoice, type WallChoice, type WallFilterDialog } from './wall-choice.js';
import { initialSort, type Sort } from './sort.js';

/** The search in a log while it is typed. `before`: the previous search. */
type SearchDialog = {
  readonly kind: 'search';
  readonly line: EditedLine;
  readonly before: string;
  /** Why Enter was refused. */
  readonly problem: string | null;
};

/** A line for runs while it is typed. `what`: the runs, in words; `typed`: earlier lines, the latest last. */
export type TypeDialog = {
  readonly kind: 'type';
  readonly ids: readonly RunId[];
  readonly what: string;
  readonly line: EditedLine;
  readonly typed: readonly string[];
  readonly recall: Recall | null;
};

/** The filter while it is typed. `before`: the previous filter. */
export type FilterDialog = {
  readonly kind: 'filter';
  readonly line: EditedLine;
  readonly before: string;
  readonly offer: Offer;
  readonly recall: Recall | null;
  /** Why Enter was refused. */
  readonly problem: QueryProblem | null;
};

/**
 * The palette while a command is typed. `index`: the chosen row; -1: none, so Enter takes the typed text. `isRefused`: Enter was
 * pressed on something that cannot be done.
 */
export type PaletteDialog = {
  readonly kind: 'palette';
  readonly line: EditedLine;
  readonly index: number;
  readonly isRefused: boolean;
};

/** What the user sees and has chosen, not the state of runs. */
export type UiState = {
  /** The shown sweep; null: all of them. */
  readonly sweep: string | null;
  /** Key of the selected row; null: the first one. */
  readonly selected: string | null;
  /** Last index of the selection, used if its row disappears. */
  readonly index: number;
  /** First visible row of the list. */
  readonly top: number;
  /** Groups folded or unfolded by the user, by key. */
  readonly folds: ReadonlyMap<string, boolean>;
  /** Marked runs. While there are any, commands for runs act on them. */
  readonly marks: ReadonlySet<RunId>;
  readonly filter: string;
  /** Filters used in this window, the latest last. */
  readonly filters: readonly string[];
  readonly grouping: Grouping;
  readonly sort: Sort;
  /** Columns of the list from left to right; null: the default ones. */
  readonly columns: readonly ColumnId[] | null;
  /** Views saved for this sweep. */
  readonly views: readonly SavedView[];
  /** null: the default metric of the sweep. */
  readonly metric: string | null;
  /** Look of the list before failures were shown; null: they are not shown. */
  readonly beforeFailures: Omit<SavedView, 'name'> | null;
  /** Key of the row under the pointer; null: none. */
  readonly hovered: string | null;
  readonly chart: ChartChoice;
  readonly log: LogChoice;
  /** The charts of an open run or group. */
  readonly wall: WallChoice;
  /** The samples of an open run. */
  readonly samples: SampleChoice;
  readonly compare: CompareChoice;
  readonly panes: PaneSizes;
  readonly screen: Screen;
  readonly dialog: Dialog;
  /** Which keys do what. */
  readonly keys: KeyMapping;
  /** Whether only ASCII can be shown, so that names must differ in ASCII. Set by the terminal rather than the user. */
  readonly isAscii: boolean;
  readonly note: Note | null;
};

export type Screen =
  | { readonly kind: 'jobs' }
  /** `offset`: number of lines that the pane in use is scrolled down; a log has its own position, in `log`. */
  | { readonly kind: 'run'; readonly pane: OpenPane; readonly offset: number }
  | CompareScreen
  | { readonly kind: 'gpus'; readonly index: number }
  | { readonly kind: 'sweep'; readonly top: number }
  /** `at`: the log under the cursor. */
  | { readonly kind: 'logs'; readonly runs: readonly RunId[]; readonly at: number }
  | ParametersScreen;

export type ScreenKind = Screen['kind'];

/** `at`: the item under the cursor; `top` and `left`: first visible line and column. */
export type CompareScreen = {
  readonly kind: 'compare';
  readonly subjects: readonly Subject[];
  readonly at: number;
  readonly top: number;
  readonly left: number;
};

/** The ranking of parameters, and how it is shown. Parameters are referred to by name, because their order changes as runs end. */
export type ParametersScreen = {
  readonly kind: 'parameters';
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

export const parametersViews = ['importance', 'parallel', 'scatter', 'best'] as const;
export type ParametersView = (typeof parametersViews)[number];

/** The panes of an open run or group that movement keys can act on. */
export const openPanes = ['log', 'charts', 'config', 'attempts', 'samples'] as const;
export type OpenPane = (typeof openPanes)[number];

/** What covers the screen or asks in the footer. */
export type Dialog =
  | { readonly kind: 'none' }
  /** `typed`: the text to search for among the keys. */
  | { readonly kind: 'help'; readonly top: number; readonly typed: string }
  | ({ readonly kind: 'metrics' } & MenuState)
  /** Chooses a sweep of the runs directory. */
  | ({ readonly kind: 'sweeps' } & MenuState)
  /** Chooses how charts are drawn. `index`: the option under the cursor. */
  | { readonly kind: 'chart'; readonly index: number }
  /** Chooses the x axis of the charts. */
  | ({ readonly kind: 'x-axis' } & MenuState)
  /** `keys`: parameters that can be on the axes of the heatmap. */
  | ({ readonly kind: 'axes'; readonly keys: readonly string[] } & MenuState)
  | ({ readonly kind: 'grouping' } & MenuState)
  /** `order`: all available columns in the order of the dialog; shown columns keep this order. */
  | ({ readonly kind: 'columns'; readonly order: readonly ColumnId[] } & MenuState)
  /** `name`: the name of a view while it is typed. */
  | ({ readonly kind: 'views'; readonly name: EditedLine | null } & MenuState)
  | FilterDialog
  | PaletteDialog
  /** Shows new runs written in an editor, and what submitting them would do. */
  | { readonly kind: 'draft'; readonly draft: Draft; readonly top: number }
  | SearchDialog
  | TypeDialog
  | WallFilterDialog
  | ConfirmDialog;

/**
 * A question before a request. `detail`: what will happen, in words. `yes`: the keys that confirm; never the key that asked, which
 * may be pressed twice by accident.
 */
export type ConfirmDialog = {
  readonly kind: 'confirm';
  readonly question: string;
  readonly detail: string | null;
  readonly yes: readonly string[];
  readonly order: Effect;
};

/** A message in the footer, shown until the next key. */
export type Note = { readonly text: string; readonly tone: 'dim' | 'good' | 'warn' | 'bad' };

export type { Effect, WindowEffect } from './effect.js';

export const initialUi: UiState = {
  sweep: null,
  selected: null,
  index: 0,
  top: 0,
  folds: new Map(),
  marks: new Set(),
  filter: '',
  filters: [],
  grouping: initialGrouping,
  sort: initialSort,
  columns: null,
  views: [],
  metric: null,
  beforeFailures: null,
  hovered: null,
  chart: initialChartChoice,
  log: initialLogChoice,
  wall: initialWallChoice,
  samples: initialSampleChoice,
  compare: initialCompareChoice,
  panes: initialPanes,
  screen: { kind: 'jobs' },
  dialog: { kind: 'none' },
  keys: 'default',
  isAscii: false,
  note: null,
};
