import { type FleetStatus, type RunSummary } from '../port.js';
import { type UiState } from '../ui-state.js';
import { type Curve } from './chart.js';
import { type Tally } from './tally.js';
import { type Branch, type TreeNode } from './tree.js';

/** Everything the screens are computed from. */
export type WindowModel = {
  /** Unix ms. */
  readonly now: number;
  readonly title: string;
  readonly connection: 'connected' | 'reconnecting';
  readonly status: FleetStatus;
  /** Of all runs, filtered or not. */
  readonly tally: Tally;
  /** Unix ms of the first start and, once all runs ended, of the last end. */
  readonly startedAt: number | null;
  readonly endedAt: number | null;
  /** Seconds until all runs have ended, at the present pace. */
  readonly etaSeconds: number | null;
  readonly groups: readonly Branch[];
  readonly rows: readonly TreeNode[];
  /** Position of the selection in `rows`. */
  readonly index: number;
  readonly isFolded: (branch: Branch) => boolean;
  readonly metric: string | null;
  readonly metrics: readonly string[];
  readonly ui: UiState;
  readonly detail: Detail;
  /** Names of parameters that differ between runs. */
  readonly varying: ReadonlySet<string>;
  readonly table: readonly string[] | null;
};

/** What is known of the selection beyond its summary. */
export type Detail = {
  /** The chosen metric first. */
  readonly charts: readonly ChartData[];
  readonly xKey: string;
  readonly log: readonly string[];
  /** False until the files of the selection have been read. */
  readonly isLoaded: boolean;
};

export type ChartData = { readonly metric: string; readonly curves: readonly Curve[] };

export function selectedNode({ rows, index }: WindowModel): TreeNode | undefined {
  return rows[index];
}

/** The selected run, or the runs of the selected group. */
export function selectedRuns(node: TreeNode | undefined): readonly RunSummary[] {
  return node === undefined ? [] : node.kind === 'run' ? [node.run] : node.runs;
}
