import { UserError } from '../../base/user-error.js';
import type { CompiledBlock } from '../expand/compile-block.js';
import { atPlace, compileAll, type GroupsFile, namedPoints, withKeptNames } from '../expand/expand-sweep.js';
import { dimensionsOf, type Point, pointAt, varies } from '../expand/grid.js';
import { withinComputingTime } from '../expand/expression/time-limit.js';
import { identityOf } from '../expand/identity.js';
import { type ExpandOptions, type NamedPoint, plannedRun } from '../expand/plan-run.js';
import { KeptNames, type KnownRun, marked, refuseClashes } from '../expand/run-name.js';
import { unitPoints } from '../expand/sampling/unit-points.js';
import type { Method } from '../file/sweep-file.js';
import { applyOverrides } from '../file/overrides.js';
import { parseSweepFile } from '../file/parse-sweep-file.js';
import type { CodeSnapshot, PlannedRun, PlanSource } from '../planned-run.js';
import { atSnapshot } from '../snapshot-place.js';
import { rankedPoints } from './expected-improvement.js';
import { observationsOf, type Trial } from './trials.js';

/** The input for the proposal of a further run. */
export type Known = {
  /** Trials of the group, in the order in which they were proposed. */
  readonly trials: readonly Trial[];
  /** Names of all runs of the sweep, in lower case. */
  readonly names: ReadonlySet<string>;
};

type DrawnMethod = Exclude<Method, { kind: 'grid' }>;
type Coordinates = (dimension: string) => number;

/** Time limit for the expressions of one point, ms. */
const POINT_MS = 500;
/** Number of draws until a new point is found, at most. */
const TRIES = 2000;

/**
 * Proposes runs of the open groups of a sweep file. A proposal depends only on the file, its seed and the trials so far; the object
 * keeps no state.
 */
export class Search {
  readonly #file: GroupsFile;
  readonly #options: ExpandOptions;
  readonly #snapshots: readonly CodeSnapshot[];
  readonly #groups: ReadonlyMap<string, CompiledBlock>;
  readonly #recorded: readonly KnownRun[];

  /**
   * @param recorded Runs of the sweep that have a directory.
   * @throws {UserError} When the file cannot be parsed (any more).
   */
  constructor(
    { path, text, snapshots = [], zone, ...options }: PlanSource,
    environment: ExpandOptions['environment'],
    recorded: readonly KnownRun[] = [],
  ) {
    const file = parseSweepFile(text, path);
    if (file.kind === 'commands') throw new UserError(`${path} has no groups.`, 'Launch the sweep again.');
    this.#file = file;
    this.#options = { ...options, environment, ...(zone === undefined ? {} : { zone }) };
    this.#snapshots = snapshots;
    this.#recorded = recorded;
    const compiled = compileAll(file, applyOverrides(file.blocks, options.set));
    this.#groups = new Map(compiled.map((group) => [group.block.group, group]));
  }

  /**
   * The next run of a group; null: all points that were tried have a run. Pauses every few milliseconds.
   *
   * @throws {UserError} When the point gives no run: an expression fails, or its name is that of another run.
   */
  *next(name: string, known: Known): Generator<void, PlannedRun | null> {
    const group = this.#groups.get(name);
    const method = group?.block.method.content;
    if (group === undefined || method === undefined || method.kind === 'grid') {
      throw new UserError(`Group ${name} has no points to draw.`, 'Launch the sweep again.');
    }
    const point = yield* this.#newPoint(group, method, known);
    return point === null ? null : this.#planned(group, this.#named(group, point, known));
  }

  *#newPoint(group: CompiledBlock, method: DrawnMethod, { trials }: Known): Generator<void, Point | null> {
    const { block } = group;
    const identity = (parameters: Point['parameters']) => identityOf(block.group, parameters, block.extends.content);
    const seen = new Set(trials.map(({ parameters }) => identity(parameters)));
    const candidates = method.kind === 'bayes' ? yield* ranked(group, method, trials) : draws(group, method, trials);
    for (const coordinates of candidates) {
      yield;
      const point = this.#evaluated(() => pointAt(group, coordinates));
      if (point !== null && !seen.has(identity(point.parameters))) return point;
    }
    return null;
  }

  /** The point with its name. A run that has a directory keeps its name. A default name that is taken gets a hash. */
  #named(group: CompiledBlock, point: Point, { names }: Known): NamedPoint {
    const byFile = this.#evaluated(() => namedPoints(group, [point]));
    const others = this.#recorded.filter(({ name }) => !names.has(name.toLowerCase()));
    const [named] = withKeptNames(group, byFile, new KeptNames(others)) as [NamedPoint];
    const isTaken = names.has(named.name.toLowerCase());
    const own = isTaken && group.name === null ? { ...named, name: marked(named.name, point) } : named;
    if (!names.has(own.name.toLowerCase())) return own;
    throw new UserError(
      `The next run of group ${group.block.group} would be called \`${own.name}\`, as another is.`,
      'Put what varies into `name`, and launch the sweep again.',
    );
  }

  #planned(group: CompiledBlock, point: NamedPoint): PlannedRun {
    const file = this.#file;
    refuseClashes(file, [{ group, points: [point] }]);
    const run = atPlace(file, () => plannedRun({ sweep: file.name, options: this.#options, group, point }));
    return this.#placed(run);
  }

  /** Evaluates within a time limit, so that the supervisor is not blocked. */
  #evaluated<Result>(work: () => Result): Result {
    const { path } = this.#file;
    return withinComputingTime(`To work out a run of ${path}`, POINT_MS, () => atPlace(this.#file, work));
  }

  /** The run started from the code snapshot of its siblings. */
  #placed(run: PlannedRun): PlannedRun {
    if (run.snapshot === undefined) return run;
    const snapshot = this.#snapshots.find(({ cwd }) => cwd === run.cwd);
    if (snapshot !== undefined) return atSnapshot(run, snapshot, this.#options.environment);
    throw new UserError(`There is no snapshot of the code in ${run.cwd}.`, 'Launch the sweep again.');
  }
}

/** The draws of a random search, from the index of the next run if no earlier draw had been skipped. */
function* draws(group: CompiledBlock, method: DrawnMethod, { length }: readonly Trial[]): Generator<Coordinates> {
  const dimensions = dimensionsOf(group);
  const point = unitPoints('random', method.seed, { dimensions, count: length + TRIES });
  const places = new Map(dimensions.map((name, index) => [name, index]));
  for (let index = length; index < length + TRIES; index += 1) yield (name) => point(index, places.get(name)!);
}

/** Candidates of a Bayesian search, the best first. */
function* ranked(
  { axes, block }: CompiledBlock,
  { seed }: DrawnMethod,
  trials: readonly Trial[],
): Generator<void, Coordinates[]> {
  const searched = axes.filter(varies);
  // A parameter that is not passed is placed at 0.
  const pointOf = ({ parameters }: Trial) =>
    searched.map(({ name, placeOf }) => (Object.hasOwn(parameters, name) ? placeOf(parameters[name]!) : 0));
  const dimensions = searched.map(({ name }) => name);
  const observations = observationsOf(trials, block.objective!, pointOf);
  // A listed or rounded value is represented by its own place.
  const placeOf = (point: readonly number[]) =>
    point.map((u, index) => (searched[index]!.continuous ? u : searched[index]!.placeOf(searched[index]!.draw(u)[0])));
  const points = yield* rankedPoints(observations, { dimensions, placeOf }, String(seed));
  const places = new Map(dimensions.map((name, index) => [name, index]));
  return points.map((point) => (name: string) => point[places.get(name)!]!);
}
