import { type BusyTime, busyTimeOf } from '../../analysis/forecast/busy-time.js';
import { type Forecast, forecastOf, forecastSetting, forecastSteps } from '../../analysis/forecast/forecast.js';
import { SteadyRange, type TimeRange } from '../../analysis/forecast/time-range.js';
import { defaultMetric, shownMetrics } from '../../analysis/metric-order.js';
import { lazy } from '../../base/lazy.js';
import { Memoized } from '../../base/memo.js';
import type { Steps } from '../../base/steps.js';
import { resolved } from '../../query/bare-words.js';
import { runTest } from '../../query/match.js';
import { meantKey } from '../../query/check.js';
import { readRunQuery } from '../../query/parser.js';
import { printRunQuery } from '../../query/text.js';
import { hasTerm, type RunQuery } from '../../query/query.js';
import { curveValueOf, initialColumns } from '../state/list-choice.js';
import type { FleetPort, RunSummary, SweepSummary } from '../state/port.js';
import type { UiState } from '../state/ui-state.js';
import { type Attention, attentionOf } from './attention.js';
import { CurveColours } from './chart-data.js';
import type { CurveQuestion, RunCurves } from './run-curves.js';
import { tally, type Tally } from './tally.js';
import type { Branch, Tree, TreeNode } from './tree/branch.js';
import { type GroupChoice, groupChoices } from './tree/grouping-level.js';
import { flatten, TreeGrower } from './tree/tree-grower.js';
import { type VaryingParameters, varyingParametersOf } from './varying-parameters.js';

/** Up to this many runs a forecast is computed at once. */
const few = 300;
/** Minimum time between two forecasts, in ms: of a few runs, and of many. */
const periods = { few: 1000, many: 2000 };
/** Duration of one turn, in ms; its last step may exceed it. A key waits no longer than this. */
const turnTime = 3;

/**
 * The forecast over all sweeps, since they share the slots. With many runs it is computed between other turns of the event loop,
 * and the one before stays until then.
 */
export class ShownForecast {
  readonly #fleet: FleetPort;
  readonly #changed: () => void;
  #seen = { period: -1, runs: -1 };
  #forecast: Forecast = () => null;
  #steps: Steps<Forecast> | null = null;
  #turn: NodeJS.Immediate | null = null;

  /** @param changed Called when a forecast is there that was not computed at once. */
  constructor(fleet: FleetPort, changed: () => void) {
    this.#fleet = fleet;
    this.#changed = changed;
  }

  /** The last forecast; of nothing where none has been computed yet. */
  get current(): Forecast {
    return this.#forecast;
  }

  /** Makes a new forecast if the last one is too old, or of another number of runs. `now`: Unix ms. */
  refresh(now: number): void {
    const { runs, sweeps, status } = this.#fleet;
    const isMany = runs.size > few;
    const period = Math.floor(now / (isMany ? periods.many : periods.few));
    if (this.#steps !== null || (period === this.#seen.period && runs.size === this.#seen.runs)) return;
    this.#seen = { period, runs: runs.size };
    const [all, setting] = [[...runs.values()], forecastSetting({ status, sweeps }, now)];
    if (!isMany) this.#forecast = forecastOf(all, setting);
    else {
      this.#steps = forecastSteps(all, setting);
      this.#continue();
    }
  }

  close(): void {
    if (this.#turn !== null) clearImmediate(this.#turn);
  }

  #continue(): void {
    this.#turn = setImmediate(() => {
      this.#turn = null;
      const until = performance.now() + turnTime;
      let step = this.#steps!.next();
      while (step.done !== true && performance.now() < until) step = this.#steps!.next();
      if (step.done !== true) return this.#continue();
      this.#forecast = step.value;
      this.#steps = null;
      this.#changed();
    });
  }
}

/** Groups start folded from this many runs on. */
const many = 300;

/** The rows of the list and the totals, computed from the fleet and the user's choices. */
export type ListModel = {
  readonly runs: readonly RunSummary[];
  readonly sweeps: readonly SweepSummary[];
  readonly metric: string | null;
  /** The metrics that the first sweep shows, or else those that tell most of what its runs have written. */
  readonly shown: readonly string[];
  /** The metric that ranks runs, if all shown sweeps that name one name the same; otherwise null. */
  readonly objective: string | null;
  readonly tree: Tree;
  readonly rows: readonly TreeNode[];
  readonly tally: Tally;
  /** Number of runs that were not asked for, but others need them. */
  readonly prerequisites: number;
  readonly pace: Pace;
  /** What needs the user. Computed on request, like `varyingParameters`, once per publication. */
  readonly attention: () => Attention;
  /** Predicted end times of runs. */
  readonly forecast: Forecast;
  /** Parameters that differ between runs. Computed on request, once for the same set of runs. */
  readonly varyingParameters: () => VaryingParameters;
  /** What the list can be grouped by. Computed on request, as above. */
  readonly groupChoices: () => readonly GroupChoice[];
  /** Colours of curves and of their marks in the list. */
  readonly colours: CurveColours;
};

type FleetPart = Pick<
  ListModel,
  'runs' | 'sweeps' | 'objective' | 'prerequisites' | 'attention' | 'varyingParameters' | 'groupChoices' | 'colours'
> & { readonly busy: BusyTime | null };

/**
 * Computes list models, and only what has changed since the last one: the tree once per publication of the fleet, the rows once per
 * fold. A key that moves the selection costs nothing here, however many runs there are.
 */
export class ListModelBuilder {
  readonly #fleet: FleetPort;
  readonly #curves: RunCurves | null;
  readonly #grower = new TreeGrower();
  readonly #fleetPart = new Memoized<FleetPart>();
  readonly #question = new Memoized<CurveQuestion | null>();
  readonly #withCurves = new Memoized<FleetPart>();
  readonly #matches = new Memoized<(run: RunSummary) => boolean>();
  readonly #tally = new Memoized<Tally>();
  readonly #treePart = new Memoized<Pick<ListModel, 'metric' | 'tree' | 'tally'>>();
  readonly #whole = new Memoized<ListModel>();
  readonly #writers = new Memoized<{ readonly runs: readonly RunSummary[]; readonly kinds: string }>();
  readonly #usualMetric = new Memoized<string | null>();
  readonly #shown = new Memoized<readonly string[]>();
  readonly #rows = new Memoized<readonly TreeNode[]>();
  readonly #forecast: ShownForecast;
  /** As old as the forecast it is of. */
  readonly #left = new Memoized<Pick<Pace, 'left' | 'leftFirst'>>();
  readonly #steadyLeft = new SteadyRange();
  /** Version of the publication that is shown. */
  #seen: number;

  /**
   * `curves`: without it the list shows only values that the supervisor sends. `changed`: called when something has been computed in
   * the background.
   */
  constructor(fleet: FleetPort, curves: RunCurves | null = null, changed: () => void = () => undefined) {
    this.#fleet = fleet;
    this.#curves = curves;
    this.#forecast = new ShownForecast(fleet, changed);
    this.#seen = fleet.version();
  }

  /**
   * Makes the next models show what the fleet has published since the last call. With many runs in steps, between which models stay
   * as they are.
   *
   * @param chosen The choices of the user at any moment.
   */
  *takeNews(chosen: () => UiState, now: number): Steps {
    const seen = this.#fleet.version();
    if (this.#fleet.runs.size > many) {
      const { sweep } = chosen();
      const told = this.#readFleet(sweep, now);
      yield;
      const metric = chosen().metric ?? this.#usual(told);
      const tallied = tally(told.runs, metric);
      yield;
      told.attention();
      yield;
      this.#fleetPart.keep([seen, sweep], told);
      this.#tally.keep([told, metric], tallied);
    }
    this.#seen = seen;
    this.listModel(chosen(), now);
    if (this.#fleet.runs.size > many) yield;
  }

  /** Ends what is computed in the background. */
  close(): void {
    this.#forecast.close();
  }

  listModel(ui: UiState, now: number): ListModel {
    const { filter, grouping, sort, sweep, isAscii } = ui;
    const told = this.#fleetPart.value([this.#seen, sweep], () => this.#readFleet(sweep, now));
    const usual = this.#usual(told);
    const metric = ui.metric ?? usual;
    const fleet = this.#readCurves(told, ui, metric, usual);
    const grown = this.#treePart.value([fleet, filter, grouping, sort, metric, isAscii], () => {
      const matches = this.#matcher(filter, fleet, now);
      // A user who filters wants to see the matching runs, so they are not folded.
      const options = { matches, grouping, foldsWaiting: filter === '', isAscii, sort, metric, now };
      const tree = this.#grower.grow(fleet.runs, fleet.sweeps, options);
      return { metric, tree, tally: this.#tally.value([fleet, metric], () => tally(fleet.runs, metric)) };
    });
    const rows = this.#rows.value([grown, ui.folds], () =>
      flatten(grown.tree, (branch) => isFolded(branch, ui, fleet.runs.length)),
    );
    const forecast = this.#forecast.current;
    const some = this.#writersOf(told);
    const shown = this.#shown.value([told.sweeps[0], some.kinds], () => metricsShown(told.sweeps, some.runs));
    return this.#whole.value([rows, shown, forecast], () => {
      const left = this.#left.value([forecast, sweep, fleet.runs.length], () => this.#leftOf(fleet, sweep, now));
      return { ...fleet, ...grown, shown, rows, forecast, pace: { busy: fleet.busy, ...left } };
    });
  }

  #leftOf({ runs, prerequisites }: FleetPart, sweep: string | null, now: number): Pick<Pace, 'left' | 'leftFirst'> {
    const forecast = this.#forecast.current;
    const { cpu, gpus } = this.#fleet.status;
    const told = forecast(runs);
    const left = this.#steadyLeft.next(told, [sweep, runs.length, cpu.slots, gpus.length].join(), now);
    // What comes after the prerequisites may be unknown until some of it has ended.
    const isFirst = told === null && prerequisites > 0;
    return { left, leftFirst: isFirst ? forecast(runs.filter(({ state }) => state === 'running')) : null };
  }

  /** Runs with their curve values, if the list shows any. */
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

  #usual(fleet: FleetPart): string | null {
    const some = this.#writersOf(fleet);
    return this.#usualMetric.value([fleet.sweeps[0], some.kinds], () => usualMetric(fleet.sweeps, some.runs));
  }

  #writersOf({ runs }: FleetPart): { readonly runs: readonly RunSummary[]; readonly kinds: string } {
    return this.#writers.value([runs], () => {
      const found = writers(runs);
      return { runs: found, kinds: kindsOf(found) };
    });
  }

  #readFleet(sweep: string | null, now: number): FleetPart {
    const isShown = (name: string): boolean => sweep === null || name === sweep;
    const runs = [...this.#fleet.runs.values()].filter(({ sweep }) => isShown(sweep));
    const known = this.#fleetPart.current;
    const sweeps = [...this.#fleet.sweeps.values()].filter(({ name }) => isShown(name));
    const isSame = known !== undefined && haveSameParameters(known.runs, runs);
    const varyingParameters = isSame ? known.varyingParameters : lazy(() => varyingParametersOf(runs));
    const colours = isSame ? known.colours : new CurveColours(runs);
    const choices = lazy(() => groupChoices(runs, sweeps, varyingParameters()));
    const attention = lazy(() => attentionOf(runs));
    this.#forecast.refresh(now);
    const told = { runs, sweeps, objective: objectiveOf(sweeps), busy: busyTimeOf(runs) };
    const prerequisites = prerequisitesAmong(runs, sweeps);
    return { ...told, prerequisites, attention, varyingParameters, groupChoices: choices, colours };
  }

  /** Returns the same function while the filter matches the same runs. A filter about time gets a new one per publication. */
  #matcher(filter: string, fleet: FleetPart, now: number): (run: RunSummary) => boolean {
    const read = readRunQuery(filter);
    if (read.kind === 'problem') return showAll;
    const query = resolved(read, {
      sweeps: new Set(fleet.sweeps.map(({ name }) => name)),
      groups: new Set(fleet.sweeps.flatMap(({ groups }) => groups.map(({ name }) => name))),
      meant: (key) => meantKey(key, fleet.runs),
    });
    const key = [printRunQuery(query), isAboutTime(query) ? fleet : null];
    return this.#matches.value(key, () => runTest(query, now));
  }
}

/** Null: the values that the supervisor sends for every run suffice. These include the trend of a run's main metric. */
function curvesAsked(shown: readonly string[], metric: string | null, usual: string | null): CurveQuestion | null {
  if (metric === null) return null;
  const values = [...new Set(shown.flatMap((column) => curveValueOf(column)?.word ?? []))];
  const hasTrend = metric !== usual && shown.includes('trend');
  return values.length > 0 || hasTrend ? { metric, values, hasTrend } : null;
}

/** Whether a branch is folded. Kinds of failure and runs that wait start folded. */
export function isFolded({ key, kind, isFailure }: Branch, { folds }: UiState, runs: number): boolean {
  return folds.get(key) ?? (isFailure || kind === 'waiting' || (kind === 'group' && runs > many));
}

function haveSameParameters(a: readonly RunSummary[], b: readonly RunSummary[]): boolean {
  return a.length === b.length && a.every(({ parameters }, index) => parameters === b[index]!.parameters);
}

/** Number of runs examined for metrics if no sweep says what to show. */
const mostRuns = 64;

/** The default metric of the first sweep that names one, otherwise the one that most runs wrote. */
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

function metricsShown([sweep]: readonly SweepSummary[], runs: readonly RunSummary[]): readonly string[] {
  const written = new Set(runs.flatMap(({ metrics }) => Object.keys(metrics)));
  const counting = new Set(runs.flatMap((run) => run.counting ?? []));
  return shownMetrics(written, sweep ?? { show: [], x: 'step' }, counting);
}

function prerequisitesAmong(runs: readonly RunSummary[], sweeps: readonly SweepSummary[]): number {
  const groups = new Map(
    sweeps.map((sweep) => [
      sweep.name,
      new Set(sweep.groups.flatMap((each) => (each.prerequisite ? [each.name] : []))),
    ]),
  );
  if ([...groups.values()].every(({ size }) => size === 0)) return 0;
  return runs.reduce((count, { sweep, group }) => count + Number(groups.get(sweep)?.has(group) ?? false), 0);
}

function objectiveOf(sweeps: readonly SweepSummary[]): string | null {
  const names = new Set(sweeps.flatMap(({ objective }) => objective?.name ?? []));
  return names.size === 1 ? [...names][0]! : null;
}

/** The first few runs that wrote metrics. */
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

/** A text that changes with the set of metrics, not with their values. */
function kindsOf(runs: readonly RunSummary[]): string {
  return runs.map(({ metrics, counting }) => `${Object.keys(metrics).length} ${counting?.length ?? 0}`).join();
}

const showAll = (): boolean => true;

function isAboutTime(query: RunQuery): boolean {
  return hasTerm(query, (term) => term.kind === 'fact' && term.fact === 'age');
}

/** Total time that runs have taken, and time until the rest have ended. */
type Pace = {
  /** Time in which at least one run was up; null: none has begun. */
  readonly busy: BusyTime | null;
  /** Time until the last run has ended; null: unknown. */
  readonly left: TimeRange | null;
  /** Where that is unknown, the time until the prerequisites that are up have ended; null: unknown, or there are none. */
  readonly leftFirst: TimeRange | null;
};
