import * as Plot from '@observablehq/plot';
import type { Figure } from './curve-figures.js';
import { figureSvg, runTitle } from './figure.js';
import type { PageCurve, PageGroup } from './page-data.js';

/** TRL's names of what a run earned and of its distance from the model that it began with. */
const names = { reward: 'reward', distance: 'kl' } as const;

/** Number of parts that a run is divided into; a point is the mean of one. */
const PARTS = 10;

type Point = { readonly run: number; readonly setting: string; readonly kl: number; readonly reward: number };

/**
 * The frontier: the reward of each run against the distance that it was bought with (Gao et al. 2023, Scaling Laws for Reward Model
 * Overoptimization, whose axis is the root of KL too). Empty for a group that does not show both.
 */
export function frontierFigure({ colours, figures }: PageGroup): Figure[] {
  const curvesOf = (name: string) => figures.find(({ metric }) => metric === name)?.curves ?? [];
  const distances = new Map(curvesOf(names.distance).map((curve) => [curve.run, curve]));
  const paths = curvesOf(names.reward).flatMap((reward) => {
    const distance = distances.get(reward.run);
    const path = distance === undefined ? [] : pathOf(reward, distance);
    return path.length === 0 ? [] : [path];
  });
  if (paths.length === 0) return [];
  const place = { x: 'kl', y: 'reward', stroke: ({ setting }: Point) => colours.of(setting) };
  const title = ({ run }: Point) => runTitle(run);
  const ends = paths.map((path) => path.at(-1)!);
  const svg = figureSvg(`reward against KL of ${paths.length} runs`, {
    x: { type: 'sqrt', label: 'kl (axis of square roots)', grid: true, zero: true },
    y: { label: 'reward', grid: true, nice: true },
    marks: [
      Plot.line(paths.flat(), { ...place, z: 'run', strokeOpacity: 0.35, title }),
      Plot.dot(ends, { ...place, fill: place.stroke, r: 4, title }),
    ],
  });
  const note = 'A line for each run from its first tenth to its last, where the point is; means of each tenth.';
  return [{ title: 'reward against kl', svg, legend: colours.legend, note }];
}

/** The tenths of a run in which both were measured. An estimate of KL below zero is drawn as zero. */
function pathOf(reward: PageCurve, distance: PageCurve): Point[] {
  const [first, last] = [reward.x[0]!, reward.x.at(-1)!];
  return Array.from({ length: PARTS }, (_, part) => {
    const isIn = (x: number) => x >= first && Math.min(PARTS - 1, Math.floor((PARTS * (x - first)) / (last - first || 1))) === part; // prettier-ignore
    const { run, setting } = reward;
    return { run, setting, kl: Math.max(0, meanWhere(distance, isIn)), reward: meanWhere(reward, isIn) };
  }).filter(({ kl, reward: earned }) => Number.isFinite(kl) && Number.isFinite(earned));
}

/** Not a number where there is none. */
function meanWhere({ x, y }: PageCurve, isIn: (x: number) => boolean): number {
  const values = y.filter((_, index) => isIn(x[index]!));
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
