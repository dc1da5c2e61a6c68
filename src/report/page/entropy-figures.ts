import * as Plot from '@observablehq/plot';
import { pooledNoiseScale } from '../../analysis/noise-scale.js';
import { fitPowerLaw } from '../../analysis/scaling.js';
import { groupBy } from '../../base/group-by.js';
import { shortNumber } from '../../text/numbers.js';
import type { Figure } from './curve-figures.js';
import type { EntropyData, EvaluatedStep, MeasuredNoise, MeasuredStep } from './entropy-data.js';
import { figureSvg, palette, tickText, type FigureSize } from './figure.js';

/** A figure that stands beside others. */
const small: FigureSize = { width: 420, height: 320 };
/** Half-width of a 95 % interval, in standard errors. */
const INTERVAL = 1.96;
/** Number of runs with figures of their own. */
const MOST_RUNS = 8;
/** Number of answers of a kernel that are drawn: each cell is an element of the page. */
const MOST_ANSWERS = 32;
/** Parts of a training over which measurements of the noise scale are pooled. */
const PARTS = 4;
/** Number of learning rates for a fit that says anything: a line goes through any two. */
const LEAST_RATES = 3;
const dashed = { strokeDasharray: '4 4', strokeOpacity: 0.6 };

/** What a step of policy gradient does to the entropy of a policy: truth, prediction, noise and kernel. */
export function entropyFigures({ steps, noise, evaluated }: EntropyData): Figure[] {
  const runs = [...groupBy(steps, ({ run }) => run)].slice(0, MOST_RUNS);
  return [
    ...slopeFigure(steps),
    ...runs.flatMap(([run, ofRun]) => agreementFigure(run, ofRun)),
    ...noiseFigure(noise),
    ...kernelFigure(steps),
    ...evaluationFigures(evaluated),
  ];
}

type Line = { readonly step: number; readonly eta: number; readonly change: number };

/** |ΔH| against η, both logarithmic, with the power law through each step and a line of slope 1. */
function slopeFigure(steps: readonly MeasuredStep[]): Figure[] {
  const measured = steps.map(({ results: { true: truth } }, step) =>
    truth.entries
      .map(({ eta, delta_h_true: change }): Line => ({ step, eta, change: Math.abs(change) }))
      .filter(({ eta, change }) => eta > 0 && change > 0),
  );
  const fitted = measured.flatMap((lines) => {
    if (lines.length < LEAST_RATES) return [];
    const law = fitPowerLaw(lines.map(({ eta, change }) => ({ x: eta, y: change })));
    return law === null ? [] : [{ law, lines }];
  });
  if (fitted.length === 0) return [];
  const all = fitted.flatMap(({ lines }) => lines);
  const ends = [Math.min(...all.map(({ eta }) => eta)), Math.max(...all.map(({ eta }) => eta))];
  const laws = fitted.flatMap(({ law, lines }) =>
    lines.map(({ step, eta }) => ({ step, eta, change: law.factor * eta ** law.slope })),
  );
  const middle = Math.exp(all.reduce((sum, { eta, change }) => sum + Math.log(change / eta), 0) / all.length);
  const position = { x: 'eta', y: 'change' } as const;
  const svg = figureSvg(`change of the entropy against the learning rate, ${fitted.length} steps`, {
    x: { type: 'log', label: 'η', tickFormat: tickText, ticks: 6 },
    y: { type: 'log', label: '|ΔH|, nats', tickFormat: tickText, grid: true, ticks: 6 },
    marks: [
      Plot.line(laws, { ...position, z: 'step', stroke: palette[0]!, strokeOpacity: 0.5 }),
      Plot.line(
        ends.map((eta) => ({ eta, change: middle * eta })),
        { ...position, ...dashed },
      ),
      Plot.dot(all, { ...position, r: 3, fill: palette[0]! }),
    ],
  });
  const [slopes, fits] = [fitted.map(({ law }) => law.slope), fitted.map(({ law }) => law.r2)];
  const note = `Dots: measured. Lines: a power law through each of ${fitted.length} steps, with exponents from ${Math.min(...slopes).toFixed(3)} to ${Math.max(...slopes).toFixed(3)} and R² from ${Math.min(...fits).toFixed(4)}. Dashed: slope 1.`;
  return [{ title: 'change of entropy against learning rate', svg, legend: [], note }];
}

type Judged = {
  readonly kind: string;
  readonly x: number;
  readonly dx: number;
  readonly y: number;
  readonly dy: number;
};
const kinds = ['first order', 'without the change of lengths'] as const;

/** Truth against prediction at the lowest learning rate, per unit of it, with 95 % intervals. */
function agreementFigure(run: string, steps: readonly MeasuredStep[]): Figure[] {
  const judged = steps.flatMap(({ results: { approx, true: truth } }) => {
    const entries = truth.entries.filter(({ eta, z }) => eta > 0 && z !== undefined).sort((a, b) => a.eta - b.eta);
    return entries.length === 0 ? [] : [{ approx, entry: entries[0]! }];
  });
  if (judged.length === 0) return [];
  const points = judged.flatMap(({ approx, entry: { eta, delta_h_controlled: change, controlled_error: error } }) => {
    const truth = { y: change / eta, dy: (INTERVAL * error) / eta };
    return [
      { kind: kinds[0], x: approx.delta_h_per_lr, dx: INTERVAL * approx.standard_error, ...truth },
      { kind: kinds[1], x: approx.without_denominator, dx: INTERVAL * approx.without_denominator_error, ...truth },
    ];
  });
  const ends = points.flatMap(({ x, y }) => [x, y]);
  const line = [Math.min(...ends), Math.max(...ends)].map((value) => ({ value }));
  const stroke = ({ kind }: Judged) => palette[kind === kinds[0] ? 0 : 2]!;
  const svg = figureSvg(`truth against prediction of ${run}`, {
    ...small,
    x: { label: '∇H·v, predicted', nice: true },
    y: { label: 'ΔH/η, in truth', nice: true, grid: true },
    marks: [
      Plot.line(line, { x: 'value', y: 'value', ...dashed }),
      Plot.ruleY(points, { x1: ({ x, dx }: Judged) => x - dx, x2: ({ x, dx }: Judged) => x + dx, y: 'y', stroke }),
      Plot.ruleX(points, { x: 'x', y1: ({ y, dy }: Judged) => y - dy, y2: ({ y, dy }: Judged) => y + dy, stroke }),
      Plot.dot(points, { x: 'x', y: 'y', r: 3, fill: stroke }),
    ],
  });
  const z = judged.map(({ entry }) => entry.z!);
  const within = (name: 'controlled' | 'without_denominator') =>
    z.filter((each) => Math.abs(each[name]) < INTERVAL).length;
  const note = `At η = ${shortNumber(judged[0]!.entry.eta)}, bars: 95 %. Within the errors of both: ${within('controlled')} of ${z.length}; without the change of lengths ${within('without_denominator')}.`;
  const legend = kinds.map((text, at) => ({ colour: palette[2 * at]!, text }));
  return [{ title: `prediction and truth: ${run}`, svg, legend, note, isSmall: true }];
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

type Cell = { readonly i: number; readonly j: number; readonly cosine: number };

/** Cosines of the Fisher kernel between the answers of the first step that has one. */
function kernelFigure(steps: readonly MeasuredStep[]): Figure[] {
  const found = steps.find(({ results }) => results.fisher !== undefined);
  if (found === undefined) return [];
  const { kernel, prompts } = found.results.fisher!;
  const shown = kernel.slice(0, MOST_ANSWERS);
  const cells = shown.flatMap((row, i) =>
    row.slice(0, shown.length).map((value, j): Cell => {
      return { i, j, cosine: value / Math.sqrt(kernel[i]![i]! * kernel[j]![j]!) };
    }),
  );
  const borders = shown.flatMap((_, at) => (at > 0 && prompts[at] !== prompts[at - 1] ? [at] : []));
  const svg = figureSvg(`Fisher kernel of ${found.run}`, {
    ...{ width: 480, height: 480 },
    x: { label: 'answer', domain: [0, shown.length], ticks: [] },
    y: { label: 'answer', domain: [shown.length, 0], ticks: [] },
    color: { scheme: 'RdBu', domain: [1, -1], legend: false },
    marks: [
      Plot.rect(cells, {
        ...{ x1: 'j', x2: ({ j }: Cell) => j + 1, y1: 'i', y2: ({ i }: Cell) => i + 1, fill: 'cosine', inset: 0 },
      }),
      Plot.ruleX(borders, { strokeOpacity: 0.4 }),
      Plot.ruleY(borders, { strokeOpacity: 0.4 }),
    ],
  });
  const note = `Cosines between the gradients of log-probabilities of ${shown.length} answers of ${found.run}, in the metric of the step; red: 1, white: 0, blue: −1. Lines divide answers to different prompts.`;
  return [{ title: 'Fisher kernel', svg, legend: [], note }];
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
