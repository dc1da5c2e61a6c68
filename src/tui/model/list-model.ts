import { type Forecast, forecastOf, forecastSetting } from '../../analysis/forecast/forecast.js';
import { defaultMetric } from '../../analysis/metric-order.js';
import { lazy } from '../../base/lazy.js';
import { resolved } from '../../query/bare-words.js';
import { runTest } from '../../query/match.js';
import { readRunQuery } from '../../query/parser.js';
import { printRunQuery } from '../../query/print.js';
import { hasTerm, type RunQuery } from '../../query/query.js';
import { type Attention, attentionOf } from './attention.js';
import { CurveColours } from './curve-colours.js';
import { type GroupChoice, groupChoices } from './tree/group-choices.js';
import { Memoized } from '../../base/memoize.js';
import type { FleetPort, RunSummary, SweepSummary } from '../state/port.js';
import { curveValueOf, initialColumns } from '../state/list-column-id.js';
import type { UiState } from '../state/ui-state.js';
import type { Branch, Tree, TreeNode } from './tree/branch-index.js';
import { type Pace, paceOf } from './pace.js';
import type { CurveQuestion, RunCurves } from './run-curves.js';
import { tally, type Tally } from './tally.js';
import { TreeGrower } from './tree/tree-grower.js';
import { flatten } from './tree/tree.js';
import { type VaryingParameters, varyingParametersOf } from './varying-parameters.js';

/** From this many runs on, groups start folded. */
const many = 300;

/** What the fleet and the user's choices amount to: the rows of the list and the totals. */
export type ListModel = {
  readonly runs: readonly RunSummary[];
  readonly sweeps: readonly SweepSummary[];
  readonly metric: string | null;
  /** The metric that says how good the runs are, where all sweeps shown that name one name the same. */
  readonly objective: string | null;
  readonly tree: Tree;
  readonly rows: readonly TreeNode[];
  readonly tally: Tally;
  readonly pace: Pace;
  /** What needs a person; computed as `variety` is, once for each publication. */
  readonly attention: () => Attention;
  /** When runs will have ended. */
  readonly forecast: Forecast;
  /** What tells the runs apart. Computed when it is asked for, once for as long as there are the same runs. */
  readonly variety: () => VaryingParameters;
  /** What the list can be divided by; as above. */
  readonly groupChoices: () => readonly GroupChoice[];
  /** Of curves and of what stands for them in the list. */
  readonly colours: CurveColours;
};

type FleetPart = Pick<
  ListModel,
  'runs' | 'sweeps' | 'objective' | 'pace' | 'attention' | 'forecast' | 'variety' | 'groupChoices' | 'colours'
>;

/**
 * Computes scenes, and only what has changed since the last: the tree once per publication of the fleet, the rows
 * once per fold. A key that moves the selection costs nothing here, however many runs there are.
 */
export class ListModelBuilder {
  readonly #fleet: FleetPort;
  readonly #curves: RunCurves | null;
  readonly #grower = new TreeGrower();
  readonly #fleetPart = new Memoized<FleetPart>();
  readonly #question = new Memoized<CurveQuestion | null>();
  readonly #withCurves = new Memoized<FleetPart>();
  readonly #matches = new Memoized<(run: RunSummary) => boolean>();
  readonly #treePart = new Memoized<Pick<ListModel, 'metric' | 'tree' | 'tally'>>();
  readonly #whole = new Memoized<ListModel>();
  readonly #usualMetric = new Memoized<string | null>();
  readonly #forecast = new Memoized<Forecast>();
  /** The publication that scenes show. */
  #seen: number;

  /** `curves`: without them the list shows what the supervisor tells. */
  constructor(fleet: FleetPort, curves: RunCurves | null = null) {
    this.#fleet = fleet;
    this.#curves = curves;
    this.#seen = fleet.version();
  }

  /** Lets the next scenes show what the fleet has published since the last call. */
  takeNews(): void {
    this.#seen = this.#fleet.version();
  }

  scene(ui: UiState, now: number): ListModel {
    const { filter, grouping, sort, sweep, isAscii } = ui;
    const told = this.#fleetPart.value([this.#seen, sweep], () => this.#readFleet(sweep, now));
    const usual = this.#usual(told);
    const metric = ui.metric ?? usual;
    const fleet = this.#readCurves(told, ui, metric, usual);
    const grown = this.#treePart.value([fleet, filter, grouping, sort, metric, isAscii], () => {
      const matches = this.#matcher(filter, fleet, now);
      // Who filters has asked for these very runs.
      const options = { matches, grouping, foldsWaiting: filter === '', isAscii, sort, metric, now };
      const tree = this.#grower.grow(fleet.runs, fleet.sweeps, options);
      return { metric, tree, tally: tally(fleet.runs, metric) };
    });
    return this.#whole.value([grown, ui.folds], () => {
      const rows = flatten(grown.tree, (branch) => isFolded(branch, ui, fleet.runs.length));
      return { ...fleet, ...grown, rows };
    });
  }

  /** Runs with what the list shows of their curves, where it shows any. */
  #readCurves(fleet: FleetPart, { columns, sort }: UiState, metric: string | null, usual: string | null): FleetPart {
    const curves = this.#curves;
    if (curves === null) return fleet;
    const question = this.#question.value([columns, sort, metric, usual], () =>
      curvesAsked([...(columns ?? initialColumns), sort.by], metric, usual),
    );
    curves.want(question, fleet.runs, fleet.sweeps);
    if (question === null) return fleet;
    return this.#withCurves.value([fleet, question, curves.version], () => ({
      ...fleet,
      runs: fleet.runs.map((run) => curves.dressed(run)),
    }));
  }

  #usual({ sweeps, runs }: FleetPart): string | null {
    const some = writers(runs);
    return this.#usualMetric.value([sweeps[0], kindsOf(some)], () => usualMetric(sweeps, some));
  }

  #readFleet(sweep: string | null, now: number): FleetPart {
    const isShown = (name: string): boolean => sweep === null || name === sweep;
    const runs = [...this.#fleet.runs.values()].filter(({ sweep }) => isShown(sweep));
    const known = this.#fleetPart.current;
    const sweeps = [...this.#fleet.sweeps.values()].filter(({ name }) => isShown(name));
    const isSame = known !== undefined && haveSameParameters(known.runs, runs);
    const variety = isSame ? known.variety : lazy(() => varyingParametersOf(runs));
    const colours = isSame ? known.colours : new CurveColours(runs);
    const choices = lazy(() => groupChoices(runs, sweeps, variety()));
    const forecast = this.#forecastAt(now);
    const attention = lazy(() => attentionOf(runs));
    const told = { runs, sweeps, objective: objectiveOf(sweeps), forecast, pace: paceOf(runs, forecast) };
    return { ...told, attention, variety, groupChoices: choices, colours };
  }

  /** Of all sweeps, as they share the slots. Once a second is often enough, and every other second where there are many runs. */
  #forecastAt(now: number): Forecast {
    const { runs, sweeps, status } = this.#fleet;
    const seen = [Math.floor(now / (runs.size > many ? 2000 : 1000)), runs.size];
    return this.#forecast.value(seen, () => forecastOf([...runs.values()], forecastSetting({ status, sweeps }, now)));
  }

  /** The same function for as long as the filter lets the same runs through: one about ages does not. */
  #matcher(filter: string, fleet: FleetPart, now: number): (run: RunSummary) => boolean {
    const read = readRunQuery(filter);
    if (read.kind === 'problem') return showAll;
    const query = resolved(read, {
      sweeps: new Set(fleet.sweeps.map(({ name }) => name)),
      groups: new Set(fleet.sweeps.flatMap(({ groups }) => groups.map(({ name }) => name))),
    });
    const key = [printRunQuery(query), isAboutTime(query) ? fleet : null];
    return this.#matches.value(key, () => runTest(query, now));
  }
}

/** Null: what the supervisor tells of every run is enough. It tells the trend of the metric that stands for a run by itself. */
function curvesAsked(shown: readonly string[], metric: string | null, usual: string | null): CurveQuestion | null {
  if (metric === null) return null;
  const values = [...new Set(shown.flatMap((column) => curveValueOf(column)?.word ?? []))];
  const hasTrend = metric !== usual && shown.includes('trend');
  return values.length > 0 || hasTrend ? { metric, values, hasTrend } : null;
}

/** Kinds of failure are an inbox: one looks at them before one looks into them. Runs that wait are no news. */
export function isFolded({ key, kind, isFailure }: Branch, { folds }: UiState, runs: number): boolean {
  return folds.get(key) ?? (isFailure || kind === 'waiting' || (kind === 'group' && runs > many));
}

function haveSameParameters(a: readonly RunSummary[], b: readonly RunSummary[]): boolean {
  return a.length === b.length && a.every(({ parameters }, index) => parameters === b[index]!.parameters);
}

/** Runs looked at for a metric where no sweep says what to show. */
const mostRuns = 64;

/** The default metric of the first sweep that says what to show, or else of most runs that wrote any. */
function usualMetric(sweeps: readonly SweepSummary[], runs: readonly RunSummary[]): string | null {
  const choice = sweeps.find(({ show }) => show.length > 0) ?? sweeps[0] ?? { show: [], x: 'step' };
  const [first] = choice.show;
  if (first !== undefined) return first;
  const votes = new Map<string, number>();
  for (const { metrics, counting } of runs) {
    const metric = defaultMetric(Object.keys(metrics), choice, new Set(counting));
    if (metric !== null) votes.set(metric, (votes.get(metric) ?? 0) + 1);
  }
  return [...votes].sort(([, a], [, b]) => b - a)[0]?.[0] ?? null;
}

function objectiveOf(sweeps: readonly SweepSummary[]): string | null {
  const names = new Set(sweeps.flatMap(({ objective }) => objective?.name ?? []));
  return names.size === 1 ? [...names][0]! : null;
}

/** Some runs that wrote metrics, the first of them. */
function writers(runs: readonly RunSummary[]): RunSummary[] {
  const found: RunSummary[] = [];
  for (const run of runs) {
    if (!hasMetrics(run)) continue;
    if (found.push(run) === mostRuns) break;
  }
  return found;
}

function hasMetrics({ metrics }: RunSummary): boolean {
  for (const key in metrics) if (Object.hasOwn(metrics, key)) return true;
  return false;
}

/** Changes with the metrics that there are, and not with their values. */
function kindsOf(runs: readonly RunSummary[]): string {
  return runs.map(({ metrics, counting }) => `${Object.keys(metrics).length} ${counting?.length ?? 0}`).join();
}

const showAll = (): boolean => true;

function isAboutTime(query: RunQuery): boolean {
  return hasTerm(query, (term) => term.kind === 'fact' && term.fact === 'age');
}
