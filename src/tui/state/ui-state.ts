import type { AnnotationChange } from '../../base/annotation.js';
import type { RequestedSlots } from '../../client/fleet.js';
import type { PlainVerb } from '../../protocol/run-verbs.js';
import { type ChartChoice, initialChartChoice } from './chart-choice.js';
import { type CompareChoice, initialCompareChoice } from './compare-choice.js';
import { type ColumnId, type Grouping, initialGrouping, initialSort, type Sort } from './list-choice.js';
import {
  initialLogChoice,
  initialSampleChoice,
  initialWallChoice,
  type LogChoice,
  type SampleChoice,
  type WallChoice,
} from './run-choice.js';
import type { RunId, RunSummary } from './port.js';
import {
  initialPanes,
  type KeyMapping,
  type PaneSizes,
  type SavedView,
  type WindowPreferences,
} from './preferences-port.js';

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

/** What each screen remembers while it is shown. Every folder of `screens/` declares its own. */
export interface Screens {
  readonly jobs: object;
}
export type ScreenKind = keyof Screens;
export type ScreenOf<Kind extends ScreenKind> = { readonly kind: Kind } & Screens[Kind];
export type Screen = { [Kind in ScreenKind]: ScreenOf<Kind> }[ScreenKind];

/** What each dialog remembers while it is open. Every file of `dialogs/` declares its own. `none`: no dialog is open. */
export interface Dialogs {
  readonly none: object;
}
export type DialogKind = Exclude<keyof Dialogs, 'none'>;
export type DialogOf<Kind extends keyof Dialogs> = { readonly kind: Kind } & Dialogs[Kind];
/** What covers the screen or asks in the footer. */
export type Dialog = { [Kind in keyof Dialogs]: DialogOf<Kind> }[keyof Dialogs];

/** A message in the footer, shown until the next key. */
export type Note = { readonly text: string; readonly tone: 'dim' | 'good' | 'warn' | 'bad' };

/** What must be done outside the state of the window because of a key. */
export type Effect = FleetEffect | WindowEffect;

/** A request to the supervisor. */
export type FleetEffect =
  | RunEffect
  /** `doing`: what is being done, and to which runs, in words. */
  | {
      readonly type: 'annotate';
      readonly ids: readonly RunId[];
      readonly change: AnnotationChange;
      readonly doing: string;
    }
  /** Adds CPU slots to the present number, or to that of earlier requests still under way. */
  | { readonly type: 'more-slots'; readonly by: number }
  | { readonly type: 'set-slots'; readonly wish: RequestedSlots }
  | { readonly type: 'drain'; readonly gpus: readonly number[]; readonly drained: boolean }
  | { readonly type: 'stop-sweep'; readonly sweep: string };

/** A run verb. `what`: the runs, in words; `undo`: what would undo it, in words. */
export type RunEffect =
  | { readonly type: PlainVerb; readonly ids: readonly RunId[]; readonly what: string; readonly undo?: string }
  | { readonly type: 'priority'; readonly ids: readonly RunId[]; readonly what: string; readonly priority: number }
  | { readonly type: 'type'; readonly ids: readonly RunId[]; readonly what: string; readonly text: string };

/** A request to the window itself. */
export type WindowEffect =
  | { readonly type: 'leave' }
  | { readonly type: 'repaint' }
  | { readonly type: 'suspend' }
  | { readonly type: 'ring' }
  | EditorEffect;

/** A request that needs other programs, the clipboard or the sweep file. */
export type EditorEffect =
  | { readonly type: 'copy' | 'clone'; readonly run: RunSummary }
  /** Shows the terminal of a run. */
  | { readonly type: 'terminal'; readonly run: RunSummary }
  /** Opens a shell in a directory. */
  | { readonly type: 'shell'; readonly directory: string; readonly what: string }
  | { readonly type: 'extend'; readonly sweep: string }
  /** Decides about the draft under review. */
  | { readonly type: 'submit-draft' | 'edit-draft' | 'drop-draft' | 'write-draft' | 'leave-draft' }
  | { readonly type: 'prefer'; readonly change: Partial<Omit<WindowPreferences, 'panes' | 'bindings'>> };

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

/** A menu: the index among the rows that match the typed text, and that text. */
export type MenuState = { readonly index: number; readonly typed: string };

/** The state of a newly opened menu. */
export function menuAt(index: number): MenuState {
  return { index: Math.max(0, index), typed: '' };
}
