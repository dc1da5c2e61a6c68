/** The `study.json` of `memrl entropy`, for reports: figures of the measured change, its prediction and the kernel over all repetitions. */
import { fitPowerLaw } from '../../study/memory/scaling.js';
import { figure, points } from '../../study/study-parts.js';
import type { Study, StudyCurve, StudyFigure } from '../../../contract/study.js';
import { shortNumber } from '../../../text/numbers.js';
import type { Experiment } from './experiment.js';

/** Half-width of a 95 % interval, in standard errors. */
const INTERVAL = 1.96;
/** Number of answers of a kernel that are drawn. */
const MOST_ANSWERS = 32;
/** Minimum number of learning rates for a meaningful fit: a line passes through any two points. */
const LEAST_RATES = 3;

/** The parts of the results that figures are drawn of. */
type Result = Pick<Experiment, 'approx' | 'true' | 'fisher'>;

/** Figures of the effect of a policy-gradient step on the entropy of a policy; null when there is nothing to draw. */
export function entropyStudy(results: readonly Result[]): Pick<Study, 'title' | 'figures'> | null {
  const figures = [...slopeFigure(results), ...agreementFigure(results), ...kernelFigure(results)];
  return figures.length === 0 ? null : { title: 'entropy under a step', figures };
}

type Change = { readonly eta: number; readonly change: number };

/** |ΔH| against η, both logarithmic, with the power law through each step and a line of slope 1. */
function slopeFigure(results: readonly Result[]): StudyFigure[] {
  const measured = results.map(({ true: { entries } }) =>
    entries
      .map(({ eta, delta_h_true: change }): Change => ({ eta, change: Math.abs(change) }))
      .filter(({ eta, change }) => eta > 0 && change > 0),
  );
  const fitted = measured.flatMap((changes) => {
    if (changes.length < LEAST_RATES) return [];
    const law = fitPowerLaw(changes.map(({ eta, change }) => ({ x: eta, y: change })));
    return law === null ? [] : [{ law, changes }];
  });
  if (fitted.length === 0) return [];
  const all = fitted.flatMap(({ changes }) => changes);
  const etas = all.map(({ eta }) => eta);
  const middle = Math.exp(all.reduce((sum, { eta, change }) => sum + Math.log(change / eta), 0) / all.length);
  const ends = [Math.min(...etas), Math.max(...etas)];
  // All laws are one series, with a gap in the line after each law.
  const laws = fitted.flatMap(({ law, changes }) => [
    ...changes.map(({ eta }) => ({ eta, change: law.factor * eta ** law.slope })),
    { eta: changes.at(-1)!.eta, change: Number.NaN },
  ]);
  const [slopes, fits] = [fitted.map(({ law }) => law.slope), fitted.map(({ law }) => law.r2)];
  const note = `Dots: measured. Lines: a power law through each of ${fitted.length} steps, with exponents from ${Math.min(...slopes).toFixed(3)} to ${Math.max(...slopes).toFixed(3)} and R² from ${Math.min(...fits).toFixed(4)}. Dashed: slope 1.`;
  const slope = ends.map((eta) => ({ eta, change: middle * eta }));
  const axes = [
    { title: 'η', log: true },
    { title: '|ΔH|', unit: 'nats', log: true },
  ] as const;
  const series = [curve('line', laws), curve('dashed', slope), curve('points', all)];
  return [figure('change of entropy against learning rate', note, axes, series)];
}

function curve(kind: StudyCurve['kind'], changes: readonly Change[]): StudyCurve {
  return points('', changes, ({ eta, change }) => ({ x: eta, y: change }), kind);
}

/** Truth against prediction at the lowest learning rate, per unit of it, with 95 % intervals. */
function agreementFigure(results: readonly Result[]): StudyFigure[] {
  const judged = results.flatMap(({ approx, true: { entries } }) => {
    const [entry] = entries.filter(({ eta, z }) => eta > 0 && z !== undefined).toSorted((a, b) => a.eta - b.eta);
    return entry === undefined ? [] : [{ approx, entry }];
  });
  if (judged.length === 0) return [];
  const predicted = (name: string, of: (approx: Result['approx']) => readonly [value: number, error: number]) =>
    points(name, judged, ({ approx, entry }) => {
      const [[x, xerror], y, error] = [
        of(approx),
        entry.delta_h_controlled / entry.eta,
        entry.controlled_error / entry.eta,
      ];
      return {
        ...{ x, xlo: x - INTERVAL * xerror, xhi: x + INTERVAL * xerror },
        ...{ y, lo: y - INTERVAL * error, hi: y + INTERVAL * error },
      };
    });
  const series = [
    predicted('first order', (approx) => [approx.delta_h_per_lr, approx.standard_error]),
    predicted('without the change of lengths', (approx) => [
      approx.without_denominator,
      approx.without_denominator_error,
    ]),
  ];
  const values = series.flatMap(({ x, y }) => [...x, ...y]).map(Number);
  const ends = [Math.min(...values), Math.max(...values)];
  const z = judged.map(({ entry }) => entry.z!);
  const within = (name: 'controlled' | 'without_denominator') =>
    z.filter((each) => Math.abs(each[name]) < INTERVAL).length;
  const note = `At η = ${shortNumber(judged[0]!.entry.eta)}, bars: 95 %. Within the errors of both: ${within('controlled')} of ${z.length}; without the change of lengths ${within('without_denominator')}.`;
  const axes = [{ title: '∇H·v, predicted' }, { title: 'ΔH/η, in truth' }] as const;
  const equal = points('', ends, (end) => ({ x: end, y: end }), 'dashed');
  return [figure('prediction and truth', note, axes, [...series, equal])];
}

/** Cosines of the Fisher kernel between the answers of the first step that has one. */
function kernelFigure(results: readonly Result[]): StudyFigure[] {
  const fisher = results.find((result) => result.fisher)?.fisher;
  if (!fisher) return [];
  const { kernel, prompts } = fisher;
  const shown = kernel.slice(0, MOST_ANSWERS);
  const cells = shown.map((row, i) =>
    row.slice(0, shown.length).map((value, j) => value / Math.sqrt(kernel[i]![i]! * kernel[j]![j]!)),
  );
  const borders = shown.flatMap((_, at) => (at > 0 && prompts[at] !== prompts[at - 1] ? [at] : []));
  const note = `Cosines between the gradients of log-probabilities of ${shown.length} answers, in the metric of the step; red: 1, white: 0, blue: −1. Lines divide answers to different prompts.`;
  return [
    {
      ...figure('Fisher kernel', note, [{ title: 'answer' }, { title: 'answer' }], []),
      ...{ cells, range: [-1, 1] },
      lines: borders.flatMap((at) => [
        { x: at, y: null, text: '' },
        { x: null, y: at, text: '' },
      ]),
    },
  ];
}
