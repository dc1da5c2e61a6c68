import { addTo } from '../../base/group-by.js';
import { lazy } from '../../base/lazy.js';
import { parameterOf, type Parameters } from '../../base/scalar.js';
import {
  type Duration,
  type Likeness,
  type Mark,
  namesRepetition,
  type RunKind,
  settingOf,
  type Shape,
} from './durations.js';
import { deviationOf, probabilityOf, type TimeRange } from './time-range.js';

/** Prior standard deviations: between runs of one setting, between groups, and of slopes. */
const USUAL_SPREAD = 0.3;
const GROUPS_SPREAD = 0.8;
const SLOPES_SPREAD = 0.4;
/** Weight of the prior spread, as a number of runs. */
const PRIOR_RUNS = 2;
/** Standard deviation of changes that affect all runs over time, such as the load of the machine. */
const DRIFT = 0.07;
/** Shorter durations are raised to this one, in seconds, as they carry no more information. */
const SHORTEST = 0.001;
const MOST_MARKS = 21;
/** A group with at least so many runs has a spread of its own; a smaller one borrows from the others. */
const FEW = 6;
/** Rounds of the coordinate descent, which is near its end after two or three. */
const ROUNDS = 5;
/** Three equal weights at 0 and at so many standard deviations to both sides have that deviation. */
const KERNEL = Math.sqrt(1.5);

/** Weighted sums of values and of their squares. */
type Sums = { weight: number; value: number; square: number };
/** `mean`: the mean of the logarithms without the effect of the slopes. */
type Group = { weight: number; mean: number; readonly settings: Map<string, Sums> };

/**
 * A linear model of the logarithm of a run's duration: the mean of its group, and a slope for each numeric parameter, as more steps
 * or a larger model take longer; each setting (all parameters but seeds) has its own distance from the line. Groups, slopes and
 * settings with few runs are shrunk towards priors (ridge regression, empirical Bayes).
 */
class DurationLine {
  readonly #durations: readonly Duration[];
  readonly #slopes: readonly Slope[];
  readonly #groups = new Map<string, Group>();
  /** For each duration its group, its values along the slopes, and its distance from the line. */
  readonly #groupOf: readonly Group[];
  readonly #along: readonly Float64Array[];
  readonly #residuals: Float64Array;
  #mean = 0;
  /** Variance around the line, in all and within a setting. */
  #variance = USUAL_SPREAD ** 2;
  #within = USUAL_SPREAD ** 2;
  readonly #likes = new Map<string, Map<string, Likeness>>();
  readonly #shapes = new Map<string, Shape>();

  constructor(durations: readonly Duration[]) {
    this.#durations = durations;
    this.#slopes = slopesOf(durations);
    this.#groupOf = durations.map(({ kind, weight }) => this.#enter(kind.group, weight));
    this.#along = this.#slopes.map((slope) => Float64Array.from(durations, ({ kind }) => slope.at(kind)));
    this.#residuals = Float64Array.from(durations, ({ seconds }) => Math.log(Math.max(SHORTEST, seconds)));
    for (let round = 0; round < ROUNDS; round++) this.#improve(round === 0 ? 0 : this.#variance / GROUPS_SPREAD ** 2);
    this.#measureSettings();
  }

  like(kind: RunKind): Likeness {
    const setting = settingOf(kind.parameters);
    let likes = this.#likes.get(kind.group);
    if (likes === undefined) this.#likes.set(kind.group, (likes = new Map<string, Likeness>()));
    let like = likes.get(setting);
    if (like === undefined) likes.set(setting, (like = this.#likeOf(kind, setting)));
    return like;
  }

  #likeOf(kind: RunKind, setting: string): Likeness {
    const { centre, variance } = this.#at(kind);
    const { weight, value } = this.#groups.get(kind.group)?.settings.get(setting) ?? { weight: 0, value: 0 };
    // Variance of the estimate of the setting's centre, before and after its own runs are counted.
    const before = variance + this.#variance - this.#within;
    const after = 1 / (1 / before + weight / this.#within);
    const shared = Math.min(variance, after);
    return {
      centre: centre + (after * value) / this.#within,
      doubt: Math.sqrt(shared + DRIFT ** 2),
      spread: Math.sqrt(this.#within + after - shared),
      shape: lazy(() => this.#shapeOf(kind.group)),
    };
  }

  /** The line's value for runs of a kind, and the variance of that estimate. */
  #at(kind: RunKind): { centre: number; variance: number } {
    const { mean, weight } = this.#groups.get(kind.group) ?? { mean: this.#mean, weight: 0 };
    let centre = mean;
    let variance = 1 / (weight / this.#variance + 1 / GROUPS_SPREAD ** 2);
    for (const slope of this.#slopes) {
      const x = slope.at(kind);
      centre += slope.value * x;
      variance += (x ** 2 * this.#variance) / slope.strength;
    }
    return { centre, variance };
  }

  #enter(name: string, weight: number): Group {
    let group = this.#groups.get(name);
    if (group === undefined)
      this.#groups.set(name, (group = { weight: 0, mean: 0, settings: new Map<string, Sums>() }));
    group.weight += weight;
    return group;
  }

  /**
   * Does one round of coordinate descent: the groups' means, then each slope.
   *
   * @param pull Weight of the mean of all groups in the mean of one, as a number of runs.
   */
  #improve(pull: number): void {
    const sums = new Map<Group, number>();
    for (const [index, { weight }] of this.#durations.entries()) {
      const group = this.#groupOf[index]!;
      sums.set(group, (sums.get(group) ?? 0) + weight * (this.#residuals[index]! + group.mean));
    }
    const changes = new Map<Group, number>();
    for (const [group, sum] of sums) {
      const mean = (sum + pull * this.#mean) / (group.weight + pull);
      changes.set(group, mean - group.mean);
      group.mean = mean;
    }
    for (const index of this.#durations.keys()) this.#residuals[index]! -= changes.get(this.#groupOf[index]!)!;
    this.#mean = [...sums.keys()].reduce((sum, { mean }) => sum + mean, 0) / sums.size;
    this.#slopes.forEach((slope, index) => this.#bend(slope, this.#along[index]!));
    this.#variance = variance(
      this.#durations.map(({ weight }, index) => ({ weight, square: weight * this.#residuals[index]! ** 2 })),
    );
  }

  #bend(slope: Slope, along: Float64Array): void {
    let [moment, strength] = [0, this.#variance / SLOPES_SPREAD ** 2];
    for (const [index, { weight }] of this.#durations.entries()) {
      const x = along[index]!;
      moment += weight * x * (this.#residuals[index]! + slope.value * x);
      strength += weight * x ** 2;
    }
    const change = moment / strength - slope.value;
    for (let index = 0; index < along.length; index++) this.#residuals[index]! -= change * along[index]!;
    slope.value += change;
    slope.strength = strength;
  }

  /** Measures how far the settings lie from the line, and the runs of one setting from each other. */
  #measureSettings(): void {
    for (const [index, { kind, weight }] of this.#durations.entries()) {
      const { settings } = this.#groupOf[index]!;
      const setting = settingOf(kind.parameters);
      let sums = settings.get(setting);
      if (sums === undefined) settings.set(setting, (sums = { weight: 0, value: 0, square: 0 }));
      const residual = this.#residuals[index]!;
      sums.weight += weight;
      sums.value += weight * residual;
      sums.square += weight * residual ** 2;
    }
    const repeated = [...this.#groups.values()]
      .flatMap(({ settings }) => [...settings.values()])
      .filter(({ weight }) => weight >= 2)
      .map(({ weight, value, square }) => ({ weight: weight - 1, square: square - value ** 2 / weight }));
    this.#within = repeated.length === 0 ? this.#variance / 2 : Math.min(this.#variance, variance(repeated));
  }

  /** The shape of a group's runs; where they are few, runs of other groups are counted with less weight. */
  #shapeOf(group: string): Shape {
    let shape = this.#shapes.get(group);
    if (shape === undefined) this.#shapes.set(group, (shape = this.#newShape(group)));
    return shape;
  }

  #newShape(group: string): Shape {
    const isOwn = ({ kind }: Duration) => kind.group === group;
    const own = this.#durations.filter(isOwn);
    const others = own.length >= FEW ? 0 : weightOf(this.#durations) - weightOf(own);
    const count = weightOf(own) + Math.min(1, others);
    const seen = this.#durations.flatMap((duration, index) => {
      if (!isOwn(duration) && others === 0) return [];
      const weight = isOwn(duration) ? duration.weight : duration.weight / Math.max(1, others);
      return [{ at: this.#residuals[index]! / Math.sqrt(this.#variance), share: duration.share, weight }];
    });
    // Few durations are blurred, as each stands for others around it; many are the distribution itself. The effective number is
    // Kish's (L. Kish, Survey Sampling, 1965).
    const squares = seen.reduce((sum, { weight }) => sum + weight ** 2, 0);
    const blur = KERNEL / Math.sqrt(Math.max(1, count ** 2 / squares));
    const marks = seen.flatMap((mark) => [-blur, 0, blur].map((by) => ({ ...mark, at: mark.at + by })));
    return { count, marks: thinned(marks) };
  }
}

/** Picks marks so that the same weight lies between any two neighbours. */
function thinned(marks: (Mark & { readonly weight: number })[]): Mark[] {
  const step = weightOf(marks) / MOST_MARKS;
  let next = step / 2;
  let below = 0;
  return marks
    .sort((a, b) => a.at - b.at)
    .flatMap(({ at, share, weight }) => {
      below += weight;
      const here: Mark[] = [];
      for (; next < below; next += step) here.push({ at, share });
      return here;
    });
}

/**
 * The effect of a numeric parameter on the duration, both as logarithms, within groups: differences between groups are in the
 * groups' means. `strength`: weight of the durations in the estimate beside the prior, 0 to 1.
 */
type Slope = { readonly at: (kind: RunKind) => number; value: number; strength: number };

/** One slope for every parameter that is a positive number in some run. */
function slopesOf(durations: readonly Duration[]): Slope[] {
  const names = new Set<string>();
  for (const { kind } of durations) for (const name in kind.parameters) names.add(name);
  return [...names].flatMap((name): Slope[] => {
    if (namesRepetition(name)) return [];
    const means = new Map<string, { weight: number; value: number }>();
    for (const { kind, weight } of durations) {
      const log = logOf(kind.parameters, name);
      if (log === null) continue;
      let sum = means.get(kind.group);
      if (sum === undefined) means.set(kind.group, (sum = { weight: 0, value: 0 }));
      sum.weight += weight;
      sum.value += weight * log;
    }
    const at = ({ group, parameters }: RunKind) => {
      const known = means.get(group);
      const log = known === undefined ? null : logOf(parameters, name);
      if (known === undefined || log === null) return 0;
      // A group with few runs has an uncertain mean, so the distance from it is shrunk.
      return ((log - known.value / known.weight) * known.weight) / (known.weight + SOME);
    };
    return means.size === 0 ? [] : [{ at, value: 0, strength: 1 }];
  });
}

/** Weight, as a number of runs, by which that distance is shrunk. */
const SOME = 0.3;

function logOf(parameters: Parameters, name: string): number | null {
  const value = parameterOf(parameters, name);
  return typeof value === 'number' && value > 0 && Number.isFinite(value) ? Math.log(value) : null;
}

function weightOf(durations: readonly { readonly weight: number }[]): number {
  return durations.reduce((sum, { weight }) => sum + weight, 0);
}

/** The mean of squares, with the prior counted as `PRIOR_RUNS` runs. */
function variance(sums: readonly Pick<Sums, 'weight' | 'square'>[]): number {
  const total = sums.reduce((all, { square }) => all + square, PRIOR_RUNS * USUAL_SPREAD ** 2);
  return total / (PRIOR_RUNS + weightOf(sums));
}

/** A running run that is expected to end in `left` seconds. `share`: as in `Duration`. */
export type Foreseen = {
  readonly kind: RunKind;
  readonly elapsed: number;
  readonly left: TimeRange;
  readonly share: number | null;
};

/**
 * The known durations of runs, from which those of others in their sweep are estimated. Warm-ups and other runs of a sweep are
 * estimated apart.
 */
export class KnownDurations {
  readonly #known: readonly Duration[];
  readonly #pools = new Map<string, Duration[]>();
  readonly #lines = new Map<string, DurationLine>();

  constructor(known: readonly Duration[]) {
    this.#known = known;
    for (const duration of known) addTo(this.#pools, poolOf(duration.kind), duration);
  }

  /** Adds the estimates of running runs: where no run of a group has ended yet, the one that is farthest tells about the others. */
  with(foreseen: readonly Foreseen[]): KnownDurations {
    if (foreseen.length === 0) return this;
    const more = foreseen.map((run) => this.#durationOf(run)).filter(({ weight }) => weight > 0);
    return new KnownDurations([...this.#known, ...more]);
  }

  /**
   * An estimate as a duration. Its weight is high where the estimate is precise, and more precise than that by others, or where the
   * run has outlasted others.
   */
  #durationOf({ kind, elapsed, left, share }: Foreseen): Duration {
    const like = this.like(kind);
    const deviation = deviationOf({ low: elapsed + left.low, high: elapsed + left.high });
    const spread = like?.spread ?? USUAL_SPREAD;
    const certainty = spread ** 2 / (spread ** 2 + deviation ** 2);
    const news = like === null ? 1 : Math.max(1 - (deviation / deviationAround(like)) ** 2, outlasted(elapsed, like));
    return { kind, seconds: elapsed + left.middle, share, weight: certainty * news };
  }

  /** The estimate for a kind of run; null: no duration of its sweep is known. */
  like(kind: RunKind): Likeness | null {
    const pool = poolOf(kind);
    const known = this.#pools.get(pool);
    if (known === undefined) return null;
    let line = this.#lines.get(pool);
    if (line === undefined) this.#lines.set(pool, (line = new DurationLine(known)));
    return line.like(kind);
  }
}

/** The share of similar runs that a run has outlasted. */
function outlasted(elapsed: number, like: Likeness): number {
  return elapsed <= 0 ? 0 : probabilityOf((Math.log(elapsed) - like.centre) / deviationAround(like));
}

function deviationAround({ doubt, spread }: Likeness): number {
  return Math.hypot(doubt, spread);
}

/** Number of runs of one group, the latest, that are looked at: more of them do not improve an estimate. */
export const MOST_PER_GROUP = 150;

function poolOf({ sweep, isPreparation }: RunKind): string {
  return `${sweep}\n${isPreparation}`;
}
