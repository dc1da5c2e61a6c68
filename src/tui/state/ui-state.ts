import type { QueryProblem } from '../../query/query.js';
import { type ChartChoice, initialChartChoice } from './chart-choice.js';
import { type CompareChoice, initialCompareChoice } from './compare-choice.js';
import type { Draft } from './editor-port.js';
import type { Effect } from './effect.js';
import { type Grouping, initialGrouping } from './grouping.js';
import type { EditedLine } from './line-editor.js';
import type { ColumnId } from './list-column-id.js';
import type { ListDialog } from './list-dialog.js';
import { initialLogChoice, type LogChoice } from './log-choice.js';
import type { RunId } from './port.js';
import type { KeyPreset, SavedView } from './preferences-port.js';
import type { Offer, Recall } from './prompt.js';
import type { Subject } from './compare-subjects.js';
import { initialSort, type Sort } from './sort.js';

/** What is looked for in a log, while it is typed. `before`: what it was. */
export type SearchDialog = {
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
  readonly chart: ChartChoice;
  readonly log: LogChoice;
  readonly compare: CompareChoice;
  readonly screen: Screen;
  readonly dialog: Dialog;
  /** Which keys do what. */
  readonly keys: KeyPreset;
  readonly note: Note | null;
};

export type Screen =
  | { readonly kind: 'jobs' }
  /** `offset`: lines that the pane in use is scrolled down; a log has its own place, in `log`. */
  | { readonly kind: 'run'; readonly pane: OpenPane; readonly offset: number }
  | CompareScreen
  | { readonly kind: 'gpus'; readonly index: number }
  | { readonly kind: 'sweep'; readonly top: number };

export type ScreenKind = Screen['kind'];

/** `at`: the thing under the cursor; `top` and `left`: the first line and the first column that are shown. */
export type CompareScreen = {
  readonly kind: 'compare';
  readonly subjects: readonly Subject[];
  readonly at: number;
  readonly top: number;
  readonly left: number;
};

/** What the keys that move act on, on an open run or group. */
export const openPanes = ['log', 'charts', 'config', 'attempts'] as const;
export type OpenPane = (typeof openPanes)[number];

/** What lies over the screen or asks in the footer. */
export type Dialog =
  | { readonly kind: 'none' }
  | { readonly kind: 'help'; readonly top: number }
  | { readonly kind: 'table'; readonly top: number }
  | { readonly kind: 'metrics'; readonly index: number }
  /** What the x axis of the charts can be. */
  | { readonly kind: 'x-axis'; readonly index: number }
  /** `keys`: the parameters that may be on the axes of the heatmap. */
  | { readonly kind: 'axes'; readonly index: number; readonly keys: readonly string[] }
  | FilterDialog
  | PaletteDialog
  | ListDialog
  /** New runs that were written in an editor, and what submitting them would do. */
  | { readonly kind: 'draft'; readonly draft: Draft; readonly top: number }
  | SearchDialog
  | { readonly kind: 'confirm'; readonly key: string; readonly question: string; readonly order: Effect };

/** A word to the person in the footer, until the next key. */
export type Note = { readonly text: string; readonly tone: 'dim' | 'good' | 'warn' | 'bad' };

export type { Effect, WindowEffect } from './effect.js';

export const initialUi: UiState = {
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
  chart: initialChartChoice,
  log: initialLogChoice,
  compare: initialCompareChoice,
  screen: { kind: 'jobs' },
  dialog: { kind: 'none' },
  keys: 'default',
  note: null,
};
