import { readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { ReportedRun } from '../../analysis/analysed-run.js';
import { cellsOf, settingText } from '../../analysis/cells.js';
import { mean } from '../../analysis/statistics.js';
import { groupBy } from '../../base/group-by.js';
import { hasEnded } from '../../base/run-words.js';
import { runFiles } from '../../contract/files.js';
import type { StudyFigure } from '../../contract/study.js';
import { evaluationFolder } from '../evaluation/eval-batch/keys.js';
import { type KeptFacts, stampOf } from './kept-facts.js';
import { measuredCurves, type MeasuredRun } from './modes.js';
import { type NoiseMeasurement, pooledNoiseScale } from './noise-scale.js';
import { type Curve, RunRows } from './run-rows.js';
import { figure, points } from './study-parts.js';
import type { SweepGroup } from './sweep-runs.js';

/** TRL's names for the reward of a run and its KL to the initial model. */
const earned = { reward: 'reward', distance: 'kl' } as const;
/** Metrics of a run: both terms of the gradient noise scale in prompts, from microbatches and by two batch sizes. */
const noiseWays = [
  { text: 'microbatches of the step', signal: 'gns_G2', noise: 'gns_tr_sigma' },
  { text: 'two batch sizes, other prompts', signal: 'gns_two_sizes_G2', noise: 'gns_two_sizes_tr_sigma' },
] as const;
/** The columns of an evaluation of checkpoints that figures are drawn of. */
const evaluationColumns = { pass: 'pass@1_unbiased', entropy: 'ent_mean' } as const;
/** Number of parts that a run is divided into; a point of the frontier is the mean of one. */
const TENTHS = 10;
/** Parts of a training over which measurements of the noise scale are pooled. */
const QUARTERS = 4;
/** Half-width of a 95 % interval, in standard errors. */
const INTERVAL = 1.96;

/** Mean reward and mean KL in a tenth of a run. */
type FrontierPoint = { readonly kl: number; readonly reward: number };
/** One measurement of the noise scale by each of `noiseWays`. */
type Noise = { readonly step: number; readonly ways: readonly NoiseMeasurement[] };
/** A checkpoint that `memrl eval-batch` evaluated. `entropy`: nats a token. */
type EvaluatedCheckpoint = { readonly step: number; readonly pass: number; readonly entropy: number };
type TrainedRun = MeasuredRun & {
  readonly name: string;
  readonly path: readonly FrontierPoint[];
  readonly noise: readonly Noise[];
  readonly evaluated: readonly EvaluatedCheckpoint[];
};

/** Logged values of a run that trains for a reward, as far as figures need them. */
export function trainedRuns(groups: readonly SweepGroup[], kept: KeptFacts): TrainedRun[] {
  return groups.flatMap(({ name: group, runs }) =>
    cellsOf(runs).flatMap((cell) =>
      cell.runs.map((run): TrainedRun => ({
        ...{ name: run.name, group, setting: settingText(cell), isOver: hasEnded(run.state) },
        ...takenFrom(run, kept),
      })),
    ),
  );
}

/** Figures of each group: the frontier of reward against KL, the noise of gradients, and evaluated checkpoints. */
export function trainingFigures(all: readonly TrainedRun[]): StudyFigure[] {
  return [...groupBy(all, ({ group }) => group)].flatMap(([name, trained]) => [
    ...frontierFigure(name, trained),
    ...noiseFigure(name, trained),
    ...evaluationFigures(name, trained),
  ]);
}

function takenFrom(run: ReportedRun, kept: KeptFacts): Pick<TrainedRun, 'path' | 'noise' | 'evaluated' | 'curves'> {
  const places = evaluationPlaces(run.directory);
  const take = () => {
    const rows = new RunRows(run.directory);
    const evaluated = places.flatMap(evaluatedIn);
    return { path: pathOf(rows), noise: noiseIn(rows), evaluated, curves: measuredCurves(rows) };
  };
  if (!hasEnded(run.state)) return take();
  const stamps = [run.directory, ...places].map((place) => stampOf(join(place, runFiles.metrics)));
  return kept.value(`training of ${run.name}`, stamps, take);
}

/** Tenths of a run in which both were measured. A KL estimate below zero counts as zero. */
function pathOf(rows: RunRows): FrontierPoint[] {
  const [reward, distance] = [rows.series(earned.reward), rows.series(earned.distance)];
  const [first, last] = [reward.x[0], reward.x.at(-1)];
  if (first === undefined || last === undefined || distance.x.length === 0) return [];
  return Array.from({ length: TENTHS }, (_, part) => {
    const isIn = (x: number) =>
      x >= first && Math.min(TENTHS - 1, Math.floor((TENTHS * (x - first)) / (last - first || 1))) === part;
    return { kl: Math.max(0, meanWhere(distance, isIn)), reward: meanWhere(reward, isIn) };
  }).filter(({ kl, reward: value }) => Number.isFinite(kl) && Number.isFinite(value));
}

/** NaN for an empty list. */
function meanWhere({ x, y }: Curve, isIn: (x: number) => boolean): number {
  return mean(y.filter((_, index) => isIn(x[index]!))) ?? Number.NaN;
}

function noiseIn(rows: RunRows): Noise[] {
  const steps = rows.series(noiseWays[0].signal).x;
  const terms = noiseWays.map(({ signal, noise }) => [valuesOf(rows, signal), valuesOf(rows, noise)] as const);
  return steps.flatMap((step) => {
    const ways = terms.map(([signal, noise]) => ({ signal: signal.get(step) ?? NaN, noise: noise.get(step) ?? NaN }));
    const isWhole = ways.every(({ signal, noise }) => Number.isFinite(signal) && Number.isFinite(noise));
    return isWhole ? [{ step, ways }] : [];
  });
}

function valuesOf(rows: RunRows, name: string): ReadonlyMap<number, number> {
  const { x, y } = rows.series(name);
  return new Map(x.map((step, index) => [step, y[index]!]));
}

/** Evaluations of a run, under `evaluation/ENVIRONMENT/SAMPLING`. */
function evaluationPlaces(directory: string): string[] {
  const root = join(directory, evaluationFolder);
  return foldersIn(root).flatMap((name) => foldersIn(join(root, name)).map((how) => join(root, name, how)));
}

function evaluatedIn(place: string): EvaluatedCheckpoint[] {
  const rows = new RunRows(place);
  const entropies = valuesOf(rows, evaluationColumns.entropy);
  return [...valuesOf(rows, evaluationColumns.pass)].flatMap(([step, pass]) => {
    const entropy = entropies.get(step) ?? NaN;
    return Number.isFinite(pass) && Number.isFinite(entropy) ? [{ step, pass, entropy }] : [];
  });
}

/** Sorted names in a directory; empty when it does not exist. */
function foldersIn(directory: string): string[] {
  try {
    const entries = readdirSync(directory, { withFileTypes: true });
    return entries.flatMap((entry) => (entry.isDirectory() ? [basename(entry.name)] : [])).sort();
  } catch {
    return [];
  }
}

/**
 * The frontier: the reward of each run against its KL (Gao et al. 2023, Scaling Laws for Reward Model Overoptimization,
 * whose axis is the root of KL too).
 */
function frontierFigure(group: string, trained: readonly TrainedRun[]): StudyFigure[] {
  const settings = groupBy(
    trained.filter(({ path }) => path.length > 0),
    ({ setting }) => setting || group,
  );
  if (settings.size === 0) return [];
  const at = ({ kl, reward }: FrontierPoint) => ({ x: Math.sqrt(kl), y: reward });
  const gap = { kl: Number.NaN, reward: Number.NaN };
  const series = [...settings].flatMap(([name, runs]) => [
    points(
      name,
      runs.flatMap(({ path }) => [...path, gap]),
      at,
      'line',
    ),
    points(
      name,
      runs.map(({ path }) => path.at(-1)!),
      at,
    ),
  ]);
  const note = 'A line for each run from its first tenth to its last, where the point is; means of each tenth.';
  return [figure(`Reward against KL, ${group}`, note, [{ title: '√kl' }, { title: 'reward' }], series)];
}

/** The noise scale of parts of a training, by both estimators. */
function noiseFigure(group: string, trained: readonly TrainedRun[]): StudyFigure[] {
  const all = trained.flatMap(({ noise }) => noise);
  const last = Math.max(...all.map(({ step }) => step));
  const series = noiseWays.flatMap(({ text }, way) => {
    const found = Array.from({ length: QUARTERS }, (_, part) => {
      const own = all.filter(({ step }) => Math.min(QUARTERS - 1, Math.floor((QUARTERS * step) / (last + 1))) === part);
      const pooled = pooledNoiseScale(own.map(({ ways }) => ways[way]!));
      return pooled === null
        ? []
        : [{ step: mean(own.map(({ step }) => step))! + (way - 0.5) * 0.01 * last, ...pooled }];
    }).flat();
    const end = ({ scale, standardError }: (typeof found)[number], side: number) =>
      Math.max(0, scale + side * INTERVAL * standardError);
    if (found.length === 0) return [];
    return [points(text, found, (each) => ({ x: each.step, y: each.scale, lo: end(each, -1), hi: end(each, 1) }))];
  });
  if (series.length === 0) return [];
  const note = `${all.length} measurements of all runs, pooled over quarters of the training: mean noise over mean signal; bars: 95 % (jackknife).`;
  return [
    figure(
      `Gradient noise scale, ${group}`,
      note,
      [{ title: 'step' }, { title: 'gradient noise scale', unit: 'prompts' }],
      series,
    ),
  ];
}

/** Pass rate and entropy of evaluated checkpoints; a run with one checkpoint shows nothing over the steps. */
function evaluationFigures(group: string, trained: readonly TrainedRun[]): StudyFigure[] {
  const runs = trained.filter(({ evaluated }) => evaluated.length > 0);
  if (runs.every(({ evaluated }) => evaluated.length < 2)) return [];
  const note = 'Checkpoints on the same tasks, by memrl eval-batch.';
  const over = (column: 'pass' | 'entropy') =>
    runs.map(({ name, evaluated }) => points(name, evaluated, (each) => ({ x: each.step, y: each[column] }), 'line'));
  return [
    figure(
      `pass@1 over the steps, ${group}`,
      note,
      [{ title: 'step' }, { title: 'pass@1, without bias' }],
      over('pass'),
    ),
    figure(
      `Entropy over the steps, ${group}`,
      note,
      [{ title: 'step' }, { title: 'entropy', unit: 'nats per token' }],
      over('entropy'),
    ),
  ];
}
