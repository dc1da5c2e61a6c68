/** Which setting of a sweep is best, and which others cannot be told apart from it: the one place where that is decided. */
import type { Parameters } from '../../base/scalar.js';
import { studentLimit } from '../../base/special-functions.js';
import type { Interval } from '../bootstrap.js';
import { student95 } from '../seed-statistics.js';
import { deviation, mean, median } from '../statistics.js';
import type { ParameterValue } from '../parameters/factors.js';
import type { Setting } from '../parameters/settings.js';

/** The result of one run. `value` null: it has written none. `isBroken`: it diverged, collapsed or ended with NaN. */
type RunResult = { readonly value: number | null; readonly isBroken: boolean };

/** The result of a setting over its runs. */
export type SettingResult = {
  readonly parameters: Parameters;
  /** Indices of its runs that have a value or are broken. */
  readonly rows: readonly number[];
  /** Over these runs; a broken run is worse than any other. Not finite: no more than half of them are sound. */
  readonly median: number;
  /** 95 %, of the centre of its sound runs, by Student's t with the pooled variance of the seeds; null: nothing was repeated. */
  readonly interval: Interval | null;
  readonly broken: number;
  /** Whether it cannot be told apart from the best; null: that is unknown, as no setting was run twice. True of the best. */
  readonly isTied: boolean | null;
};

/** Settings with a finite median, the best first, and those without, which are no candidates. */
export type RankedSettings = {
  readonly candidates: readonly SettingResult[];
  readonly broken: readonly SettingResult[];
};

/** Settings whose seeds tell how much seeds matter: a third of the candidates, but so many at least, the best by their medians. */
const CLOSE = { share: 1 / 3, least: 4 };
/** Errors in saying that the best is better than all others. */
const RISK = 0.05;
/** Positive values that span more than this factor are compared by their logarithms. */
const WIDE = 3;

/**
 * Ranks the settings of a sweep by the median over their runs, and tests each against the best.
 *
 * The test is a multiple comparison with the best (Hsu 1996, chapter 4) by Student's t, with Bonferroni's correction for the number of other
 * candidates. The variance between seeds is pooled over the settings that are close to the best, and a setting that varies more
 * counts with its own: far away, runs that went wrong vary by orders of magnitude and say nothing of the best ones. Where these
 * settings have the same seeds, what a seed does to all of them is left out (randomised blocks): a seed with hard data is hard for
 * each. Simulations of
 * settings that are equally good, with few or many seeds, other tails and unequal variances, find one of them called the best
 * in at most 5 % of the sweeps.
 *
 * @param results The result of each run, by its index.
 */
export function rankedSettings(
  settings: readonly Setting[],
  results: readonly RunResult[],
  goal: 'minimize' | 'maximize',
): RankedSettings {
  const sign = goal === 'minimize' ? 1 : -1;
  const all = settings.map((setting) => measured(setting, results, sign)).filter(({ bad }) => bad.length > 0);
  const isCandidate = ({ middle }: Measured) => Number.isFinite(middle);
  const candidates = all.filter(isCandidate).sort((a, b) => a.middle - b.middle || b.bad.length - a.bad.length);
  const noise = noiseAmong(candidates.slice(0, Math.max(CLOSE.least, Math.ceil(candidates.length * CLOSE.share))));
  const told = (one: Measured, isTied: boolean | null): SettingResult => {
    const interval = noise === null || !isCandidate(one) ? null : intervalOf(one, noise);
    const turned = interval === null || sign > 0 ? interval : ([-interval[1], -interval[0]] as const);
    return { ...one.told, median: sign * one.middle, interval: turned, isTied };
  };
  const limitBy = (degrees: number) => studentLimit(RISK / Math.max(1, candidates.length - 1), degrees);
  return {
    candidates: candidates.map((one) => told(one, isTied(candidates[0]!, one, noise, limitBy))),
    broken: all.filter((one) => !isCandidate(one)).map((one) => told(one, false)),
  };
}

/**
 * `bad`: values of its runs, less is better; Infinity: a broken run. `middle`: their median. `bySeed`: these values by their seeds;
 * null: a seed has several runs or none that counts.
 */
type Measured = {
  readonly bySeed: ReadonlyMap<string, number> | null;
  readonly told: Pick<SettingResult, 'parameters' | 'rows' | 'broken'>;
  readonly bad: readonly number[];
  readonly middle: number;
};

function measured(
  { parameters, rows, seeds, seedNames }: Setting,
  results: readonly RunResult[],
  sign: number,
): Measured {
  const known = rows.filter((row) => results[row]!.value !== null || results[row]!.isBroken);
  const bad = known.map((row) => {
    const { value, isBroken } = results[row]!;
    return isBroken || !Number.isFinite(value) ? Infinity : sign * value!;
  });
  const broken = bad.filter((value) => value === Infinity).length;
  const isOnce = known.length === seeds.length && seeds.every((own) => own.length === 1);
  const valueAt = new Map(known.map((row, index) => [row, bad[index]!]));
  const bySeed = isOnce ? new Map(seedNames.map((name, index) => [name, valueAt.get(seeds[index]![0]!)!])) : null;
  return { told: { parameters, rows: known, broken }, bySeed, bad, middle: median(bad) ?? Infinity };
}

/** How much seeds matter close to the best. `toScale`: of a value, to what is compared. `worst`: stands for a broken run. */
type Noise = {
  readonly variance: number;
  readonly degrees: number;
  readonly toScale: (bad: number) => number;
  readonly fromScale: (value: number) => number;
  readonly worst: number;
  readonly close: ReadonlySet<Measured>;
  /** The variance without that of the seeds; null: close settings do not have the same seeds. */
  readonly blocks: Blocks | null;
};

/** `of`: the variance of one setting. */
type Blocks = Pick<Noise, 'variance' | 'degrees'> & {
  readonly seeds: ReadonlySet<string>;
  readonly of: (one: Measured) => number;
};

/** With fewer degrees of freedom more is lost by the limit than is won by the variance. */
const FEWEST_DEGREES = 6;

/** The variance around the means of setting and seed, of settings with the same seeds; null: they have not, or are too few. */
function blocksAmong(close: readonly Measured[], { toScale }: Pick<Noise, 'toScale'>): Blocks | null {
  const seeds = new Set(close[0]?.bySeed?.keys());
  const degrees = (close.length - 1) * (seeds.size - 1);
  if (degrees < FEWEST_DEGREES || !close.every((one) => hasSeeds(one, seeds))) return null;
  const table = close.map(({ bySeed }) => [...seeds].map((seed) => toScale(bySeed!.get(seed)!)));
  const bySetting = table.map((own) => mean(own)!);
  const all = mean(bySetting)!;
  const bySeed = [...seeds.keys()].map((_, seed) => mean(table.map((own) => own[seed]!))!);
  const squares = table.map((own, setting) =>
    own.reduce((sum, value, seed) => sum + (value - bySetting[setting]! - bySeed[seed]! + all) ** 2, 0),
  );
  // The rest of one setting has its share of the degrees of freedom.
  const ofOne = new Map(close.map((one, index) => [one, (squares[index]! * close.length) / degrees]));
  const variance = squares.reduce((sum, each) => sum + each, 0) / degrees;
  return { variance, degrees, seeds, of: (one) => Math.max(variance, ofOne.get(one) ?? 0) };
}

/** Whether its runs are one sound run for each of these seeds. */
function hasSeeds({ bySeed }: Measured, seeds: ReadonlySet<string>): boolean {
  return bySeed?.size === seeds.size && [...bySeed].every(([seed, bad]) => seeds.has(seed) && Number.isFinite(bad));
}

/** Null: none of these settings has two sound runs. */
function noiseAmong(close: readonly Measured[]): Noise | null {
  const finite = close.flatMap(({ bad }) => bad.filter(Number.isFinite));
  const [least, most] = [Math.min(...finite), Math.max(...finite)];
  const scale = scaleFor(least, most);
  const deviations = close.flatMap(({ bad }) => {
    const values = bad.filter(Number.isFinite).map(scale.toScale);
    return values.length < 2 ? [] : [{ degrees: values.length - 1, variance: deviation(values)! ** 2 }];
  });
  const degrees = deviations.reduce((sum, each) => sum + each.degrees, 0);
  if (degrees === 0) return null;
  const variance = deviations.reduce((sum, each) => sum + each.degrees * each.variance, 0) / degrees;
  return { variance, degrees, ...scale, worst: most, close: new Set(close), blocks: blocksAmong(close, scale) };
}

function scaleFor(least: number, most: number): Pick<Noise, 'toScale' | 'fromScale'> {
  // Values to maximise have been negated.
  const sign = most < 0 ? -1 : 1;
  const ratio = sign > 0 ? most / least : least / most;
  if (!(least * most > 0) || ratio <= WIDE) return { toScale: (bad) => bad, fromScale: (value) => value };
  // Far from the best a value may have the other sign: it is worse than all.
  return {
    toScale: (bad) => sign * Math.log(Math.max(0, sign * bad)),
    fromScale: (value) => sign * Math.exp(sign * value),
  };
}

function centreOf({ bad }: Measured, { toScale, worst }: Noise): number {
  const last = bad.reduce((most, value) => (value === Infinity ? most : Math.max(most, value)), worst);
  return mean(bad.map((value) => toScale(value === Infinity ? last : value)))!;
}

/** The squared standard error of the centre of a setting. */
function errorOf(one: Measured, { variance, toScale, close }: Noise): number {
  const own = close.has(one) ? (deviation(one.bad.filter(Number.isFinite).map(toScale)) ?? 0) ** 2 : 0;
  return Math.max(variance, own) / one.bad.length;
}

function intervalOf(one: Measured, noise: Noise): Interval {
  const sound = { ...one, bad: one.bad.filter(Number.isFinite) };
  const half =
    student95(noise.degrees) *
    Math.sqrt(Math.max(noise.variance, errorOf(one, noise) * one.bad.length) / sound.bad.length);
  const centre = centreOf(sound, noise);
  return [noise.fromScale(centre - half), noise.fromScale(centre + half)];
}

/** @param limitBy By degrees of freedom, in standard errors of the difference. */
function isTied(
  best: Measured,
  other: Measured,
  noise: Noise | null,
  limitBy: (degrees: number) => number,
): boolean | null {
  if (other === best || other.middle.toPrecision(3) === best.middle.toPrecision(3)) return true;
  if (noise === null) return null;
  const { blocks } = noise;
  const isPaired = blocks !== null && hasSeeds(best, blocks.seeds) && hasSeeds(other, blocks.seeds);
  const square = isPaired
    ? (blocks.of(best) + blocks.of(other)) / blocks.seeds.size
    : errorOf(best, noise) + errorOf(other, noise);
  const limit = limitBy(isPaired ? blocks.degrees : noise.degrees);
  return centreOf(other, noise) - centreOf(best, noise) <= limit * Math.sqrt(square);
}

/**
 * The value of a parameter in the best setting, with the median over its runs. `ties`: values whose best settings cannot be told apart
 * from it. `runs`: the number of runs of the setting; `usual`: the median number over all candidates.
 */
export type BestValue = {
  readonly value: ParameterValue;
  readonly ties: readonly ParameterValue[];
  readonly median: number;
  readonly runs: number;
  readonly usual: number;
};

/** The best value of a parameter; null: there is no candidate. */
export function bestValueOf(
  valueIn: (parameters: Parameters) => ParameterValue,
  { candidates }: RankedSettings,
): BestValue | null {
  const bestOf = new Map<string, SettingResult>();
  for (const result of candidates) {
    const key = JSON.stringify(valueIn(result.parameters)) ?? '';
    if (!bestOf.has(key)) bestOf.set(key, result);
  }
  const [best, ...others] = bestOf.values();
  if (best === undefined) return null;
  return {
    ...{ value: valueIn(best.parameters), median: best.median, runs: best.rows.length },
    ties: others.filter(({ isTied: tied }) => tied === true).map(({ parameters }) => valueIn(parameters)),
    usual: Math.floor(median(candidates.map(({ rows }) => rows.length))!),
  };
}
