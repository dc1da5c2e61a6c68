import type { BusyTime } from '../../analysis/forecast/busy-time.js';
import type { Attention } from './attention.js';
import type { TimeRange } from '../../analysis/forecast/time-range.js';
import type { FoundCause } from './failure-cause-finder.js';
import type { SweepChoice } from './sweep-choices.js';
import type { GroupChoice } from './tree/group-choices.js';
import type { PaletteView } from '../dialogs/palette/palette-entry.js';
import type { FleetStatus, RunSummary } from '../state/port.js';
import type { Tone } from '../surface/span.js';
import type { UiState } from '../state/ui-state.js';
import type { XChoice } from '../widgets/chart/x-axis.js';
import type { Branch, TreeNode } from './tree/branch-index.js';
import type { Detail } from '../widgets/chart/chart-section.js';
import type { Tally } from './tally.js';
import type { VaryingParameters } from './varying-parameters.js';

/** What more than one part of the window shows. What only one screen shows is its own data. */
export type WindowModel = {
  /** Unix ms. */
  readonly now: number;
  readonly title: string;
  readonly connection: 'connected' | 'reconnecting';
  readonly status: FleetStatus;
  /** Of all runs, filtered or not. */
  readonly tally: Tally;
  /** The time in which a run was up; null: none has begun. */
  readonly busy: BusyTime | null;
  readonly attention: () => Attention;
  /** Sweeps of the runs directory, shown or not; what can be shown instead, computed when it is asked for. */
  readonly sweepCount: number;
  readonly sweepChoices: () => readonly SweepChoice[];
  /** Until all runs have ended; null: nothing tells. */
  readonly left: TimeRange | null;
  readonly groups: readonly Branch[];
  readonly rows: readonly TreeNode[];
  /** Position of the selection in `rows`. */
  readonly index: number;
  /** Colours of the curves that are drawn, by the keys of their rows. */
  readonly colours: ReadonlyMap<string, Tone>;
  readonly isFolded: (branch: Branch) => boolean;
  /** Orders that the supervisor has not answered yet, in words. */
  readonly pending: readonly string[];
  /** What the palette shows; null: it is closed. */
  readonly palette: PaletteView | null;
  readonly metric: string | null;
  /** The metric that says how good all the sweeps' runs are; null: none does. */
  readonly objective: string | null;
  readonly metrics: readonly string[];
  /** What the x axis can be, while one is asked. */
  readonly xChoices: readonly XChoice[];
  readonly ui: UiState;
  readonly detail: Detail;
  /** Names of parameters that differ between runs. */
  readonly varying: ReadonlySet<string>;
  /** What tells all runs apart; computed when it is asked for. */
  readonly variety: () => VaryingParameters;
  readonly groupChoices: () => readonly GroupChoice[];
  /** What goes with a kind of failure; undefined: not found out yet. */
  readonly causeOf: (branch: Branch) => FoundCause | undefined;
  /** Columns of the whole screen. */
  readonly width: number;
};

export function selectedNode({ rows, index }: Pick<WindowModel, 'rows' | 'index'>): TreeNode | undefined {
  return rows[index];
}

/** The selected run, or the runs of the selected group. */
export function selectedRuns(node: TreeNode | undefined): readonly RunSummary[] {
  return node === undefined ? [] : node.kind === 'run' ? [node.run] : node.runs;
}
