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
import type { KeyPreset, SavedView } from './preferences-port.js';
import type { Offer, Recall } from './prompt.js';
import { initialWallChoice, type WallChoice, type WallFilterDialog } from './wall-choice.js';
import { initialSort, type Sort } from './sort.js';

/** What is looked for in a log, while it is typed. `before`: what it was. */
type SearchDialog = {
  readonly kind: 'search';
  readonly line: EditedLine;
  readonly before: string;
  /** Why Enter did not take it. */
  readonly problem: string | null;
};

/** The filter while it is typed. `before`: what it was. */
export type FilterDialog = {
  readonly kind: 'filter';
  readonly line: EditedLine;
  readonly before: string;
  readonly offer: Offer;
  readonly recall: Recall | null;
  /** Why Enter did not take it. */
  readonly problem: QueryProblem | null;
};

/**
 * The palette while a command is typed. `index`: the chosen row; -1: none, Enter takes what is typed.
 * `isRefused`: Enter was pressed on what cannot be done.
 */
export type PaletteDialog = {
  readonly kind: 'palette';
  readonly line: EditedLine;
  readonly index: number;
  readonly isRefused: boolean;
};

/** What the person sees and has chosen; not what the runs do. */
export type UiState = {
  /** The sweep that is shown; null: all of them. */
  readonly sweep: string | null;
  /** Key of the selected row; null: the first one. */
  readonly selected: string | null;
  /** Where the selection was last seen, for when its row goes away. */
  readonly index: number;
  /** First row of the list on the screen. */
  readonly top: number;
  /** Groups folded or unfolded by hand, by key. */
  readonly folds: ReadonlyMap<string, boolean>;
  /** Marked runs: what acts on runs acts on them while there are any. */
  readonly marks: ReadonlySet<RunId>;
  readonly filter: string;
  /** Filters that were used in this window, the last one last. */
  readonly filters: readonly string[];
  readonly grouping: Grouping;
  readonly sort: Sort;
  /** Columns of the list from left to right; null: the usual ones. */
  readonly columns: readonly ColumnId[] | null;
  /** The views that are kept for this sweep. */
  readonly views: readonly SavedView[];
  /** null: what the sweep shows first. */
  readonly metric: string | null;
  /** How the list looked before the failures were shown; null: they are not. */
  readonly beforeFailures: Omit<SavedView, 'name'> | null;
  /** Key of the row under the mouse; null: it is over none. */
  readonly hovered: string | null;
  readonly chart: ChartChoice;
  readonly log: LogChoice;
  /** The charts of an open run or group. */
  readonly wall: WallChoice;
  readonly compare: CompareChoice;
  readonly screen: Screen;
  readonly dialog: Dialog;
  /** Which keys do what. */
  readonly keys: KeyPreset;
  /** Whether only ASCII can be shown: names are written so that they differ in it. Nobody chooses it; the terminal does. */
  readonly isAscii: boolean;
  readonly note: Note | null;
};

export type Screen =
  | { readonly kind: 'jobs' }
  /** `offset`: lines that the pane in use is scrolled down; a log has its own place, in `log`. */
  | { readonly kind: 'run'; readonly pane: OpenPane; readonly offset: number }
  | CompareScreen
  | { readonly kind: 'gpus'; readonly index: number }
  | { readonly kind: 'sweep'; readonly top: number }
  | ParametersScreen;

export type ScreenKind = Screen['kind'];

/** `at`: the thing under the cursor; `top` and `left`: the first line and the first column that are shown. */
export type CompareScreen = {
  readonly kind: 'compare';
  readonly subjects: readonly Subject[];
  readonly at: number;
  readonly top: number;
  readonly left: number;
};

/**
 * The parameters that matter, and how they are shown. Columns by their names: their order changes while runs end.
 */
export type ParametersScreen = {
  readonly kind: 'parameters';
  readonly view: ParametersView;
  /** The one under the cursor; null: the one that matters most. */
  readonly parameter: string | null;
  /** What it is drawn against; null: the metric. */
  readonly against: string | null;
  /** What tells runs apart in the scatter plot; null: nothing. */
  readonly groupBy: string | null;
  /** Of the run that is beside the baseline: 0 is the best. */
  readonly rank: number;
  /** Whether only the order of the runs counts, not how far they lie apart. */
  /** null: as the values need it. */
  readonly byRank: boolean | null;
  /** The first line that is shown. */
  readonly top: number;
};

export const parametersViews = ['importance', 'parallel', 'scatter', 'best'] as const;
export type ParametersView = (typeof parametersViews)[number];

/** What the keys that move act on, on an open run or group. */
export const openPanes = ['log', 'charts', 'config', 'attempts'] as const;
export type OpenPane = (typeof openPanes)[number];

/** What lies over the screen or asks in the footer. */
export type Dialog =
  | { readonly kind: 'none' }
  /** `typed`: what is looked for among the keys. */
  | { readonly kind: 'help'; readonly top: number; readonly typed: string }
  | ({ readonly kind: 'metrics' } & MenuState)
  /** The sweeps of the runs directory. */
  | ({ readonly kind: 'sweeps' } & MenuState)
  /** How the charts are drawn. `index`: the option under the cursor. */
  | { readonly kind: 'chart'; readonly index: number }
  /** What the x axis of the charts can be. */
  | ({ readonly kind: 'x-axis' } & MenuState)
  /** `keys`: the parameters that may be on the axes of the heatmap. */
  | ({ readonly kind: 'axes'; readonly keys: readonly string[] } & MenuState)
  | ({ readonly kind: 'grouping' } & MenuState)
  /** `order`: all columns there can be, as they stand in the dialog; those that are shown keep this order. */
  | ({ readonly kind: 'columns'; readonly order: readonly ColumnId[] } & MenuState)
  /** `name`: that of a view while it is typed. */
  | ({ readonly kind: 'views'; readonly name: EditedLine | null } & MenuState)
  | FilterDialog
  | PaletteDialog
  /** New runs that were written in an editor, and what submitting them would do. */
  | { readonly kind: 'draft'; readonly draft: Draft; readonly top: number }
  | SearchDialog
  | WallFilterDialog
  | ConfirmDialog;

/**
 * A question before an order. `detail`: what will happen, in words. `yes`: the keys that agree; never the key that asked, which
 * may come twice by a slip.
 */
export type ConfirmDialog = {
  readonly kind: 'confirm';
  readonly question: string;
  readonly detail: string | null;
  readonly yes: readonly string[];
  readonly order: Effect;
};

/** A word to the person in the footer, until the next key. */
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
  compare: initialCompareChoice,
  screen: { kind: 'jobs' },
  dialog: { kind: 'none' },
  keys: 'default',
  isAscii: false,
  note: null,
};
