import { describe, expect, it } from 'vitest';
import { type RankedSettings, rankedSettings } from '../../../src/analysis/answer/ranked-settings.js';
import { seededRandom } from '../../../src/analysis/parameters/seeded-random.js';
import { settingSteps } from '../../../src/analysis/parameters/settings.js';
import { mean } from '../../../src/analysis/statistics.js';
import { finished } from '../../../src/base/steps.js';

/** Values of the runs of each setting; null: it diverged. */
type Values = readonly (readonly (number | null)[])[];

function ranked(values: Values, goal: 'minimize' | 'maximize' = 'minimize'): RankedSettings {
  const runs = values.flatMap((own, lr) => own.map((value, seed) => ({ value, parameters: { lr, seed } })));
  const results = runs.map(({ value }) => ({ value: value ?? 1e30, isBroken: value === null }));
  return rankedSettings(finished(settingSteps(runs, new Set(['seed']))), results, goal);
}

/** What is called best, by its index; `tied`: it is said that it cannot be told apart; `unknown`: that nothing was run twice. */
function said({ candidates: [best, ...others] }: RankedSettings): number | 'tied' | 'unknown' {
  if (others.some(({ isTied }) => isTied === true)) return 'tied';
  return others.some(({ isTied }) => isTied === null) ? 'unknown' : (best!.parameters['lr'] as number);
}

type Draw = { readonly normal: () => number; readonly uniform: () => number };

/** A sweep with a known truth. `truth`: the best setting, or that several are equally good. `least`: share of sweeps in which it is found. */
type Simulated = {
  readonly what: string;
  readonly seeds: number;
  readonly settings: readonly number[];
  readonly noise: (middle: number, draw: Draw) => number | null;
  /** Deviation of what a seed does to all settings alike; absent: nothing. */
  readonly bySeed?: number;
  readonly truth: 'tied' | 0;
  readonly least: number;
};

const upTo = (count: number, of: (index: number) => number) => Array.from({ length: count }, (_, index) => of(index));
const plain: Simulated['noise'] = (middle, { normal }) => middle + normal();
const same = (count: number) => upTo(count, () => 0);

const sweeps: readonly Simulated[] = [
  ...[2, 3, 5]
    .flatMap((seeds) => [
      { what: 'two settings, equally good', seeds, settings: same(2), noise: plain },
      { what: 'three settings, equally good', seeds, settings: same(3), noise: plain },
      { what: 'two good ones, the others far', seeds, settings: [0, 0, ...upTo(10, () => 50)], noise: plain },
    ])
    .map((each) => ({ ...each, truth: 'tied' as const, least: 0.9 })),
  { what: 'thirty equally good', seeds: 3, settings: same(30), noise: plain, truth: 'tied', least: 0.95 },
  { what: 'equally good, of which half vary fifteen times as much', seeds: 5, settings: same(8).map((_, i) => (i < 4 ? 0 : 1e-9)), noise: (middle, { normal }) => normal() * (middle === 0 ? 0.2 : 3), truth: 'tied', least: 0.9 }, // prettier-ignore
  { what: 'equally good, with heavy tails', seeds: 5, settings: same(10), noise: (middle, { normal }) => middle + normal() / Math.max(0.05, Math.abs(normal())), truth: 'tied', least: 0.95 }, // prettier-ignore
  { what: 'equally good, of which a quarter of the seeds fail', seeds: 5, settings: same(10), noise: (middle, { normal, uniform }) => middle + normal() + (uniform() < 0.25 ? 20 : 0), truth: 'tied', least: 0.95 }, // prettier-ignore
  { what: 'half a deviation apart', seeds: 3, settings: upTo(20, (index) => index / 2), noise: plain, truth: 'tied', least: 0.9 }, // prettier-ignore
  { what: 'five deviations apart, three seeds', seeds: 3, settings: [0, 5, 5, 6, 7, 8, 9, 9], noise: plain, truth: 0, least: 0.8 }, // prettier-ignore
  { what: 'three deviations apart, five seeds', seeds: 5, settings: [0, 3, 3, 3, 3, 3, 3, 3], noise: plain, truth: 0, least: 0.65 }, // prettier-ignore
  { what: 'two deviations apart, ten seeds', seeds: 10, settings: [0, 2, 2, 3, 4, 5, 6, 7], noise: plain, truth: 0, least: 0.8 }, // prettier-ignore
  { what: 'losses over orders of magnitude', seeds: 10, settings: upTo(12, (index) => 0.1 * 1.8 ** index), noise: (middle, { normal }) => middle * Math.exp(0.3 * normal()), truth: 0, least: 0.85 }, // prettier-ignore
  { what: 'a third of them at 1e3 to 1e12, unmarked', seeds: 3, settings: [1, 1.5, 2, 2.5, 3, 3.5, 4, 4.5, 1e3, 1e6, 1e9, 1e12], noise: (middle, { normal }) => middle < 100 ? middle + 0.08 * normal() : middle * Math.exp(3 * normal()), truth: 0, least: 0.8 }, // prettier-ignore
  { what: 'a third of them diverged, and are marked', seeds: 3, settings: [1, 1.5, 2, 2.5, 99, 99], noise: (middle, { normal }) => (middle < 99 ? middle + 0.08 * normal() : null), truth: 0, least: 0.8 }, // prettier-ignore
  { what: 'equally good, with seeds that matter five times as much', seeds: 3, settings: same(12), noise: plain, bySeed: 5, truth: 'tied', least: 0.9 }, // prettier-ignore
  { what: 'three deviations apart, with seeds that matter five times as much', seeds: 5, settings: [0, 3, 3, 3, 3, 3, 3, 3], noise: plain, bySeed: 5, truth: 0, least: 0.65 }, // prettier-ignore
  { what: 'the second best wild', seeds: 5, settings: [1, 2, 3, 3, 3, 3], noise: (middle, { normal, uniform }) => middle === 2 ? 2 + Math.abs(normal()) * 3 * (uniform() < 0.5 ? 1 : -0.1) : middle + 0.1 * normal(), truth: 0, least: 0.4 }, // prettier-ignore
];

const SWEEPS = 100;

function simulated({ settings, seeds, noise, bySeed = 0 }: Simulated, seed: number): Values {
  const uniform = seededRandom(seed);
  const normal = () => Math.sqrt(-2 * Math.log(1 - uniform())) * Math.cos(2 * Math.PI * uniform());
  const effects = bySeed === 0 ? [] : upTo(seeds, () => bySeed * normal());
  return settings.map((middle) =>
    upTo(seeds, (of) => of).map((of) => {
      const value = noise(middle, { normal, uniform });
      return value === null ? null : value + (effects[of] ?? 0);
    }),
  );
}

describe('the best setting of a sweep with a known truth', () => {
  it.each(sweeps)('is named, or said to be tied: $what ($seeds seeds)', (sweep) => {
    const answers = upTo(SWEEPS, (index) => index).map((seed) => simulated(sweep, 1 + seed));
    for (const goal of ['minimize', 'maximize'] as const) {
      const turned = answers.map((values) =>
        goal === 'minimize' ? values : values.map((own) => own.map((value) => value && -value)),
      );
      const words = turned.map((values) => said(ranked(values, goal)));
      const right = words.filter((word) => word === sweep.truth).length / SWEEPS;
      const wrong = words.filter((word) => word !== sweep.truth && word !== 'tied').length / SWEEPS;
      expect(right).toBeGreaterThanOrEqual(sweep.least);
      expect(wrong).toBeLessThanOrEqual(sweep.truth === 'tied' ? 0.08 : 0.01);
    }
  });

  it('is named wrongly by the best single run and by the best mean where it cannot be told, and not here', () => {
    const wrong = (pick: (values: Values) => number | 'tied' | 'unknown') => {
      const far = sweeps.find(({ what }) => what.startsWith('half a deviation'))!;
      const named = Array.from({ length: SWEEPS }, (_, index) => pick(simulated(far, 1 + index)));
      return named.filter((word) => typeof word === 'number' && word !== 0).length / SWEEPS;
    };
    const least = (of: (own: readonly number[]) => number) => (values: Values) => {
      const all = values.map((own) => of(own as readonly number[]));
      return all.indexOf(Math.min(...all));
    };
    expect(wrong(least((own) => Math.min(...own)))).toBeGreaterThan(0.3);
    expect(wrong(least((own) => mean(own)!))).toBeGreaterThan(0.2);
    expect(wrong((values) => said(ranked(values)))).toBeLessThan(0.01);
  });
});

describe('what is no candidate', () => {
  it('is a setting of which most runs diverged, whatever they had written', () => {
    const { candidates, broken } = ranked([[1, 1.1, null], [0.1, null, null], [null, null, null], [2, 2.1, 2.2]]); // prettier-ignore
    expect(candidates.map(({ parameters, broken: broke }) => [parameters['lr'], broke])).toEqual([[0, 1], [3, 0]]); // prettier-ignore
    expect(broken.map(({ parameters, isTied }) => [parameters['lr'], isTied])).toEqual([[1, false], [2, false]]); // prettier-ignore
  });

  it('leaves the interval of the best one as it is', () => {
    const sound = [0, 1, 2, 3].map((lr) => [11 + lr, 11.1 + lr, 11.2 + lr]);
    const interval = (values: Values) => ranked(values).candidates[0]!.interval;
    expect(interval([...sound, [null, null, null], [1e12, 1e15, 1e22]])).toEqual(interval(sound));
    // 11.1 ± t(8) × 0.1 / √3
    expect(interval(sound)!.map((end) => Number(end.toFixed(4)))).toEqual([10.9669, 11.2331]);
  });
});

it('says of runs without repetition that chance is not excluded, and ties values that read the same', () => {
  expect(said(ranked([[1], [2], [3]]))).toBe('unknown');
  expect(said(ranked([[1.0001], [1.0002], [3]]))).toBe('tied');
  expect(
    said(
      ranked([
        [1, 1],
        [2, 2],
        [2, 2],
      ]),
    ),
  ).toBe(0);
});
