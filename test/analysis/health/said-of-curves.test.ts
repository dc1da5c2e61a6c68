import { describe, expect, it } from 'vitest';
import { divergenceOf, type Levels, levelsOf } from '../../../src/analysis/health/divergence.js';
import { EndedSiblings, endingOf } from '../../../src/analysis/health/ending.js';
import { seededRandom } from '../../../src/analysis/parameters/seeded-random.js';

/** Seeds of each curve: what is said must be the same of all of them. */
const SEEDS = [1, 2, 3, 4, 5, 6];
/** A running run is looked at after each of so many parts of its steps, as hysteresis depends on what was said before. */
const LOOKS = 40;

type Curve = (share: number, noise: () => number, step: number) => number;

/** Straight lines between corners (share of the run, value). */
function lines(...corners: readonly (readonly [number, number])[]): (share: number) => number {
  return (share) => {
    const next = corners.findIndex(([at]) => at >= share);
    if (next <= 0) return next < 0 ? corners.at(-1)![1] : corners[0]![1];
    const [[from, low], [to, high]] = [corners[next - 1]!, corners[next]!];
    return low + ((high - low) * (share - from)) / (to - from);
  };
}

function valuesOf(curve: Curve, count: number, seed: number): number[] {
  const random = seededRandom(seed);
  const noise = () => (random() + random() + random() + random() - 2) * 1.73;
  return Array.from({ length: count }, (_, step) => curve(step / (count - 1), noise, step));
}

/** The words of a run while it goes on, without repetitions: `ok, diverging`. Each seed is compared with the others. */
function saidWhileRunning(all: readonly (readonly number[])[], better: 1 | -1): string[] {
  const count = all[0]!.length;
  const said = all.map(() => ['ok']);
  for (let look = 1; look <= LOOKS; look++) {
    const steps = Math.floor((look * count) / LOOKS);
    const x = Array.from({ length: steps }, (_, step) => step);
    const levels = all.map((values) => levelsOf({ x, y: values.slice(0, steps) }, better));
    for (const [index, own] of levels.entries()) {
      const before = said[index]!.at(-1)!;
      const others = levels.filter((each, other): each is Levels => each !== null && other !== index);
      const word = (own && divergenceOf('metric', own, () => others, before !== 'ok'))?.word ?? 'ok';
      if (word !== before) said[index]!.push(word);
    }
  }
  return said.map((words) => words.join(', '));
}

/** The words that runs keep after their ends; `-`: none. */
function saidAtTheEnd(all: readonly (readonly number[])[], better: 1 | -1): string[] {
  const endings = all.map((values) => endingOf({ metric: 'metric', better }, null, () => values)!);
  const siblings = new EndedSiblings(endings);
  return endings.map((ending) => siblings.markOf(ending)?.word ?? '-');
}

type Row = {
  readonly of: string;
  readonly better: 1 | -1;
  readonly curve: Curve;
  readonly count?: number;
  /** What is said while it runs alone, and among runs that do the same. */
  readonly running?: string;
  readonly together?: string;
  readonly ended?: string;
};

const falling = lines([0, 10], [0.3, 2], [1, 1.5]);
const rows: readonly Row[] = [
  { of: 'a loss that falls', better: -1, curve: (t, noise) => falling(t) + 0.2 * noise() },
  { of: 'a loss on a plateau from the start', better: -1, curve: (_, noise) => 2.3 + 0.05 * noise() },
  { of: 'a constant loss', better: -1, curve: () => 1 },
  { of: 'a loss that is 0 from the start', better: -1, curve: () => 0 },
  {
    of: 'warm restarts of the learning rate (three cosine cycles, each of which begins with a rise)',
    better: -1,
    curve: (t, noise) => 2 / (1 + 6 * t) + 0.5 * (0.5 + 0.5 * Math.cos(2 * Math.PI * 3 * t)) + 0.05 * noise(),
  },
  {
    of: 'two cosine restarts with rises to half of the start',
    better: -1,
    curve: (t, noise) =>
      (t === 0 ? 4 : 0.5 + 3.5 * Math.exp(-((t * 3) % 1) * 6) * (t < 1 / 3 ? 1 : 0.45)) + 0.05 * noise(),
  },
  {
    of: 'a spike of a few steps that recovers',
    better: -1,
    curve: (t, noise) => falling(t) + (t > 0.5 && t < 0.51 ? 50 : 0) + 0.1 * noise(),
  },
  {
    of: 'a spike from which it recovers slowly',
    better: -1,
    curve: (t, noise) => falling(t) + (t > 0.5 ? 6 * Math.exp(-(t - 0.5) * 40) : 0) + 0.1 * noise(),
  },
  {
    of: 'a loss with many short spikes',
    better: -1,
    curve: (t, noise, step) => falling(t) + (step % 37 === 0 ? 30 : 0) + 0.1 * noise(),
  },
  { of: 'a last value that is a spike', better: -1, curve: (t) => (t === 1 ? 1e4 : falling(t)) },
  {
    of: 'a loss that overfits slowly',
    better: -1,
    curve: (t, noise) => lines([0, 2.3], [0.3, 0.6], [1, 0.95])(t) + 0.02 * noise(),
  },
  {
    of: 'an evaluation loss that overfits to above its start',
    better: -1,
    curve: (t, noise) => lines([0, 0.7], [0.2, 0.45], [1, 0.8])(t) + 0.01 * noise(),
  },
  {
    of: 'a loss that grows steadily to hundreds of times its start',
    better: -1,
    curve: (t, noise) => 0.1 + 40 * t + 4 * t * noise(),
    running: 'ok, diverging',
    together: 'ok',
    ended: 'diverged',
  },
  { of: 'noise around a level', better: -1, curve: (_, noise) => 5 + 2 * noise() },
  { of: 'noise around 0', better: 1, curve: (_, noise) => noise() },
  {
    of: 'a loss that explodes in the middle',
    better: -1,
    curve: (t) => (t < 0.5 ? falling(t) : falling(0.5) * Math.exp((t - 0.5) * 80)),
    running: 'ok, diverging',
    ended: 'diverged',
  },
  {
    of: 'a loss that explodes from the start (adam, lr=1)',
    better: -1,
    curve: (t) => 2 * Math.exp(50 * t),
    running: 'ok, diverging',
    ended: 'diverged',
  },
  {
    of: 'a loss that explodes and stays at 1e22',
    better: -1,
    curve: (t, noise) => (t < 0.1 ? 2 : 1e22 * (1 + 0.1 * noise())),
    running: 'ok, diverging',
    ended: 'diverged',
  },
  {
    of: 'a loss that diverges slowly, to five times its start',
    better: -1,
    curve: (t, noise) => lines([0, 2], [0.3, 1], [1, 10])(t) + 0.05 * noise(),
    running: 'ok, diverging',
    together: 'ok',
    ended: 'diverged',
  },
  { of: 'a loss that ends as NaN', better: -1, curve: (t) => (t > 0.7 ? Number.NaN : falling(t)), ended: 'nan' },
  { of: 'a loss that was NaN for a moment', better: -1, curve: (t) => (t > 0.5 && t < 0.55 ? Number.NaN : falling(t)) },
  {
    of: 'a loss that ends infinite',
    better: -1,
    curve: (t) => (t > 0.9 ? Infinity : falling(t)),
    running: 'ok, diverging',
    ended: 'diverged',
  },
  {
    of: 'an RL reward that rises to a plateau',
    better: 1,
    curve: (t, noise) => lines([0, 0], [0.4, 11], [1, 11.7])(t) + 0.3 * noise(),
  },
  {
    of: 'an RL reward on a plateau that ends at its maximum',
    better: 1,
    curve: (t, noise) => lines([0, 2], [0.1, 9], [0.2, 8.6], [0.9, 9], [1, 9.4])(t) + 0.4 * noise(),
  },
  {
    of: 'a reward that dips and comes back to its maximum',
    better: 1,
    curve: (t, noise) => lines([0, 0], [0.3, 8], [0.45, 3], [0.7, 8.5], [1, 9])(t) + 0.3 * noise(),
  },
  {
    of: 'a reward that starts by luck at its maximum, falls and rises',
    better: 1,
    curve: (t, noise) => lines([0, 5], [0.1, 2], [0.5, 5], [1, 6])(t) + 0.4 * noise(),
  },
  { of: 'a success that is 0 or 1, half of the time', better: 1, curve: (_, noise) => Number(noise() > 0) },
  { of: 'an accuracy at 1 from early on', better: 1, curve: (t) => Math.min(1, 10 * t) },
  {
    of: 'a reward that moves up and down by half all the time',
    better: 1,
    curve: (t, noise) => 5 + 2.5 * Math.sin(40 * t) + 0.3 * noise(),
  },
  {
    of: 'reward hacking: it rises, and falls to nothing',
    better: 1,
    curve: (t, noise) => lines([0, 0], [0.5, 10], [0.6, 0.2], [1, 0.1])(t) + 0.2 * noise(),
    ended: 'collapsed',
  },
  {
    of: 'a reward that falls below its start early and stays',
    better: 1,
    curve: (t, noise) => lines([0, 5], [0.2, 9], [0.25, 1], [1, 1])(t) + 0.2 * noise(),
    running: 'ok, collapsed',
    together: 'ok',
    ended: 'collapsed',
  },
  {
    of: 'a negative reward (a cost) that rises to a plateau',
    better: 1,
    curve: (t, noise) => lines([0, -1500], [0.5, -200], [1, -150])(t) + 40 * noise(),
  },
  { of: 'three values that fall', better: -1, count: 3, curve: (t) => 3 - t },
  { of: 'one value', better: -1, count: 2, curve: () => 4 },
  {
    of: 'eight evaluations that overfit',
    better: -1,
    count: 8,
    curve: (t, noise) => lines([0, 2], [0.4, 1], [1, 1.2])(t) + 0.02 * noise(),
  },
];

describe('what is said of a curve, of each seed the same', () => {
  it.each(rows)(
    '$of: $running, $ended',
    ({ better, curve, count = 400, running = 'ok', together = running, ended = '-' }) => {
      const seeds = SEEDS.map((seed) => valuesOf(curve, count, seed));
      const same = (words: string) => SEEDS.map(() => words);
      expect(seeds.flatMap((own) => saidWhileRunning([own], better))).toEqual(same(running));
      expect(saidWhileRunning(seeds, better)).toEqual(same(together));
      expect(seeds.flatMap((own) => saidAtTheEnd([own], better))).toEqual(same(ended));
      expect(saidAtTheEnd(seeds, better)).toEqual(same(ended));
    },
  );
});
