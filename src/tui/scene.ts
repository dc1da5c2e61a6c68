import { readRunQuery } from '../client/run-query.js';
import { runTest } from '../client/run-query-match.js';
import { Last } from './last.js';
import { type FleetPort, type RunSummary, type SweepSummary } from './port.js';
import { type UiState } from './ui-state.js';
import { type Pace, paceOf } from './view/pace.js';
import { tally, type Tally } from './view/tally.js';
import { type Branch, buildTree, flatten, type Tree, type TreeNode } from './view/tree.js';

/** From this many runs on, groups start folded. */
const many = 300;

/** What the fleet and the person's choices come to: the rows of the list and the totals. */
export type Scene = {
  readonly runs: readonly RunSummary[];
  readonly sweeps: readonly SweepSummary[];
  readonly metric: string | null;
  readonly tree: Tree;
  readonly rows: readonly TreeNode[];
  readonly tally: Tally;
  readonly pace: Pace;
};

/**
 * Computes scenes, and only what has changed since the last: the tree once per publication of the fleet, the rows
 * once per fold. A key that moves the selection costs nothing here, however many runs there are.
 */
export class SceneBuilder {
  readonly #fleet: FleetPort;
  readonly #sweep: string | null;
  readonly #fleetPart = new Last<Pick<Scene, 'runs' | 'sweeps' | 'pace'>>();
  readonly #treePart = new Last<Pick<Scene, 'metric' | 'tree' | 'tally'> & { of: readonly SweepSummary[] }>();
  readonly #whole = new Last<Scene>();

  /** `sweep`: show this one only; null shows all. */
  constructor(fleet: FleetPort, sweep: string | null) {
    this.#fleet = fleet;
    this.#sweep = sweep;
  }

  scene(ui: UiState, now: number): Scene {
    const fleet = this.#fleetPart.value([this.#fleet.version()], () => this.#readFleet(now));
    const metric = ui.metric ?? this.#treePart.current?.metric ?? defaultMetric(fleet.sweeps, fleet.runs);
    const grown = this.#treePart.value([fleet, ui.filter, ui.sort, metric], () => {
      const last = this.#treePart.current;
      const isSame = last?.metric === metric && areSame(last.of, fleet.sweeps);
      const options = {
        matches: matcher(ui.filter, now),
        sort: ui.sort,
        metric,
        now,
        previous: isSame ? last.tree : undefined,
      };
      const tree = buildTree(fleet.runs, fleet.sweeps, options);
      return { metric, tree, tally: tally(fleet.runs, metric), of: fleet.sweeps };
    });
    return this.#whole.value([grown, ui.folds], () => {
      const rows = flatten(grown.tree, (branch) => isFolded(branch, ui, fleet.runs.length));
      return { ...fleet, ...grown, rows };
    });
  }

  #readFleet(now: number): Pick<Scene, 'runs' | 'sweeps' | 'pace'> {
    const isShown = (name: string): boolean => this.#sweep === null || name === this.#sweep;
    const runs = [...this.#fleet.runs.values()].filter(({ sweep }) => isShown(sweep));
    return {
      runs,
      sweeps: [...this.#fleet.sweeps.values()].filter(({ name }) => isShown(name)),
      pace: paceOf(runs, now),
    };
  }
}

export function isFolded({ key, kind }: Branch, { folds }: UiState, runs: number): boolean {
  return folds.get(key) ?? (kind === 'group' && runs > many);
}

function areSame(a: readonly SweepSummary[], b: readonly SweepSummary[]): boolean {
  return a.length === b.length && a.every((sweep, index) => sweep === b[index]);
}

/** What the sweep file shows first, or else the first metric any run has written. */
function defaultMetric(sweeps: readonly SweepSummary[], runs: readonly RunSummary[]): string | null {
  const shown = sweeps.find(({ show }) => show.length > 0)?.show[0];
  if (shown !== undefined) return shown;
  for (const { metrics } of runs) for (const key in metrics) return key;
  return null;
}

function matcher(filter: string, now: number): (run: RunSummary) => boolean {
  const query = readRunQuery(filter);
  return query.kind === 'problem' ? () => true : runTest(query, now);
}
