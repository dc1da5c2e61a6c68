import * as Plot from '@observablehq/plot';
import { pooledNoiseScale } from '../../analysis/noise-scale.js';
import type { Figure } from './curve-figures.js';
import type { EntropyData, EvaluatedStep, MeasuredNoise } from './entropy-data.js';
import { figureSvg, palette, type FigureSize } from './figure.js';

/** A figure that stands beside others. */
const small: FigureSize = { width: 420, height: 320 };
/** Half-width of a 95 % interval, in standard errors. */
const INTERVAL = 1.96;
/** Parts of a training over which measurements of the noise scale are pooled. */
const PARTS = 4;

/** The noise of gradients, and pass rate and entropy of checkpoints. */
export function entropyFigures({ noise, evaluated }: EntropyData): Figure[] {
  return [...noiseFigure(noise), ...evaluationFigures(evaluated)];
}

/** The noise scale of parts of a training, by both estimators. */
function noiseFigure(noise: readonly MeasuredNoise[]): Figure[] {
  const last = Math.max(...noise.map(({ step }) => step));
  const ways = [
    ['microbatches', 'microbatches of the step'],
    ['twoSizes', 'two batch sizes, other prompts'],
  ] as const;
  const points = ways.flatMap(([way, text], at) =>
    Array.from({ length: PARTS }, (_, part) => {
      const own = noise.filter(({ step }) => Math.min(PARTS - 1, Math.floor((PARTS * step) / (last + 1))) === part);
      const pooled = pooledNoiseScale(own.map((each) => each[way]));
      const middle = own.reduce((sum, { step }) => sum + step / own.length, 0) + (at - 0.5) * 0.01 * last;
      return pooled === null ? [] : [{ text, colour: palette[at]!, step: middle, ...pooled }];
    }).flat(),
  );
  if (points.length === 0) return [];
  type Point = (typeof points)[number];
  const end =
    (way: 1 | -1) =>
    ({ scale, standardError }: Point) =>
      Math.max(0, scale + way * INTERVAL * standardError);
  const stroke = ({ colour }: Point) => colour;
  const svg = figureSvg('gradient noise scale over training', {
    x: { label: 'step', nice: true },
    y: { label: 'gradient noise scale, prompts', nice: true, zero: true, grid: true },
    marks: [
      Plot.line(points, { x: 'step', y: 'scale', z: 'text', stroke, strokeOpacity: 0.5 }),
      Plot.ruleX(points, { x: 'step', y1: end(-1), y2: end(1), stroke, strokeWidth: 1.5 }),
      Plot.dot(points, { x: 'step', y: 'scale', r: 4, fill: stroke }),
    ],
  });
  const note = `${noise.length} measurements of all runs, pooled over quarters of the training: mean noise over mean signal; bars: 95 % (jackknife).`;
  const legend = ways.map(([, text], at) => ({ colour: palette[at]!, text }));
  return [{ title: 'gradient noise scale', svg, legend, note }];
}

/** Pass rate and entropy of the checkpoints that were evaluated. */
function evaluationFigures(evaluated: readonly EvaluatedStep[]): Figure[] {
  const runs = [...new Set(evaluated.map(({ run }) => run))];
  if (evaluated.length <= runs.length) return [];
  const stroke = ({ run }: EvaluatedStep) => palette[runs.indexOf(run) % palette.length]!;
  const legend = runs.map((text, at) => ({ colour: palette[at % palette.length]!, text }));
  return (['pass', 'entropy'] as const).map((name) => {
    const title = { pass: 'pass@1 over the steps', entropy: 'entropy over the steps' }[name];
    const label = { pass: 'pass@1, without bias', entropy: 'nats per token' }[name];
    const position = { x: 'step', y: name } as const;
    const svg = figureSvg(title, {
      ...small,
      x: { label: 'step', nice: true },
      y: { label, nice: true, grid: true },
      marks: [
        Plot.line(evaluated, { ...position, z: 'run', stroke }),
        Plot.dot(evaluated, { ...position, r: 3, fill: stroke }),
      ],
    });
    return { title, svg, legend, note: 'Checkpoints on the same tasks, by memrl eval-batch.', isSmall: true };
  });
}
