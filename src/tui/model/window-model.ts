import type { GroupAnswer } from '../../analysis/answer/sweep-answers.js';
import type { BusyTime } from '../../analysis/forecast/busy-time.js';
import type { Attention } from './attention.js';
import type { TimeRange } from '../../analysis/forecast/time-range.js';
import type { FoundCause } from '../../analysis/failures/failure-kinds.js';
import type { GroupChoice } from './tree/grouping-level.js';
import type { FleetPort, FleetStatus, RunSummary } from '../state/port.js';
import type { Tone } from '../surface/span.js';
import type { UiState } from '../state/ui-state.js';
import type { Branch, TreeNode } from './tree/branch.js';
import type { Detail } from './chart-data.js';
import type { SweepChoice, Tally } from './tally.js';
import type { VaryingParameters } from './varying-parameters.js';

/** What several parts of the window show. Data of a single screen is separate. */
export type WindowModel = {
  /** Unix ms. */
  readonly now: number;
  readonly title: string;
  readonly connection: 'connected' | 'reconnecting';
  readonly status: FleetStatus;
  /** All runs of the supervisor by id. `published`: changes whenever the supervisor has published. */
  readonly allRuns: FleetPort['runs'];
  readonly published: number;
  /** Tally of all runs, filtered or not. */
  readonly tally: Tally;
  /** Number of all runs that were not asked for, but others need them. */
  readonly prerequisites: number;
  /** Time in which at least one run was up; null: none has begun. */
  readonly busy: BusyTime | null;
  readonly attention: () => Attention;
  /** Which settings of the sweep are best, as far as that is known. */
  readonly answers: () => readonly GroupAnswer[];
  /** Number of sweeps in the runs directory, shown or not. `sweepChoices` is computed on request. */
  readonly sweepCount: number;
  readonly sweepChoices: () => readonly SweepChoice[];
  /** Time until all runs have ended; null: unknown. */
  readonly left: TimeRange | null;
  /** Where that is unknown, the time until the prerequisites that are up have ended; null: unknown, or there are none. */
  readonly leftFirst: TimeRange | null;
  readonly groups: readonly Branch[];
  readonly rows: readonly TreeNode[];
  /** Position of the selection in `rows`. */
  readonly index: number;
  /** Colours of the drawn curves by row key. */
  readonly colours: ReadonlyMap<string, Tone>;
  readonly isFolded: (branch: Branch) => boolean;
  /** Requests that the supervisor has not answered yet, in words. */
  readonly pending: readonly string[];
  readonly metric: string | null;
  /** As in `ListModel.shown`. */
  readonly show: readonly string[];
  /** The metric that counts the steps of the runs. */
  readonly x: string;
  /** The metric that ranks the runs of all sweeps; null: there is none. */
  readonly objective: string | null;
  readonly ui: UiState;
  readonly detail: Detail;
  /** Names of parameters that differ between runs. */
  readonly varying: ReadonlySet<string>;
  /** Parameters that differ between all runs; computed on request. */
  readonly varyingParameters: () => VaryingParameters;
  readonly groupChoices: () => readonly GroupChoice[];
  /** What is associated with a kind of failure; undefined: not yet known. */
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
