/**
 * `memrl entropy`: the effect of a gradient step on the entropy of a policy, as predicted to first order and as
 * measured.
 */
import { join } from 'node:path';
import { fitPowerLaw } from '../../study/memory/scaling.js';
import { mean } from '../../../analysis/statistics.js';
import { UserError } from '../../../base/user-error.js';
import { runFiles } from '../../../contract/files.js';
import { studyText } from '../../../contract/study.js';
import { shortNumber } from '../../../text/numbers.js';
import { columnsOf, tableLines } from '../../../text/table.js';
import { inDoublePrecision } from '../../engine/double-precision.js';
import type { OptimizerState } from '../../engine/engine.js';
import { openEnvironment } from '../../environments/open-environment.js';
import { total } from '../../probes/entropy-estimates.js';
import { makeDirectory } from '../../run/make-directory.js';
import { appendRow, dropRowsFrom, type Row } from '../../run/metrics-file.js';
import type { ProcessContext, StopSignal } from '../../run/process-context.js';
import { writeWhole } from '../../run/run-directory.js';
import { textTokenizer } from '../../service/open-model.js';
import { openSaved } from '../eval-run/open-saved.js';
import { entropyStudy } from './entropy-study.js';
import { experiment, type Experiment } from './experiment.js';
import type { EntropyConfig } from './keys.js';

function noMoments(size: number): OptimizerState {
  return { step: 0, m: new Float32Array(size), v: new Float32Array(size) };
}

type Entry = Experiment['true']['entries'][number];

/** `fit`: a power law of |ΔH| over η; null when fewer than two learning rates changed the entropy. */
export type EntropyResult = Experiment & {
  readonly fit: { readonly slope: number; readonly r2: number } | null;
  readonly warnings: readonly string[];
};

/**
 * Writes `run_NN/plan.json` and `results.json` for each repetition, a row of metrics, and a study of those so far.
 *
 * @returns the signal that interrupted it, if one did.
 */
export async function entropy(
  config: EntropyConfig,
  directory: string,
  context: ProcessContext,
): Promise<readonly EntropyResult[] | StopSignal> {
  if (config.path === null) {
    throw new UserError('There is no policy to measure.', 'Give a run or a checkpoint: memrl entropy runs/mine/first.');
  }
  const { tokenizer } = textTokenizer(config.path);
  const environment = await openEnvironment(config, tokenizer);
  const service = await openSaved(config.path, { ...config, tokenizer }, context);
  const exact = config.precision === 'double' ? await inDoublePrecision(service.engine) : service.engine;
  if (config.moments === 'none') await exact.loadOptimizerState(noMoments(exact.parameterCount));
  const { step } = await exact.optimizerState();
  if (step === 0 && config.update === 'adam' && config.moments === 'kept')
    context.log('the checkpoint has no moments of Adam: its step is a first one');
  const metrics = join(directory, runFiles.metrics);
  makeDirectory(directory, 'log_path');
  dropRowsFrom(metrics, 0);
  const results: EntropyResult[] = [];
  for (let run = 0; run < config.n_runs; run++) {
    const signal = await context.stopAsked();
    if (signal !== null) return signal;
    const seed = config.seed + run;
    const measured = await experiment({ service, exact, environment }, config, seed);
    const fit = fitOf(measured);
    const noFit = fit === null ? [noSlope] : [];
    const result = { ...measured, fit, warnings: [...warningsOf(measured, config), ...noFit] };
    const plan = { ...config, log_path: directory, seed, optimizer_step: step };
    keepRepetition(join(directory, `run_${String(run).padStart(2, '0')}`), plan, result);
    appendRow(metrics, rowOf(result, run));
    results.push(result);
    keepStudy(directory, results);
    context.log(`run ${run + 1}/${config.n_runs}: ${summaryText(result)}`);
  }
  return results;
}

function keepRepetition(place: string, plan: object, results: EntropyResult): void {
  makeDirectory(place, 'log_path');
  writeWhole(join(place, 'plan.json'), `${JSON.stringify(plan, null, 2)}\n`);
  writeWhole(join(place, 'results.json'), `${JSON.stringify(results)}\n`);
}

function keepStudy(directory: string, results: readonly EntropyResult[]): void {
  const study = entropyStudy(results);
  if (study !== null) writeWhole(join(directory, runFiles.study), studyText(study));
}

function fitOf(measured: Experiment) {
  const points = measured.true.entries.map(({ eta, delta_h_true: change }) => ({ x: eta, y: Math.abs(change) }));
  const law = fitPowerLaw(points);
  return law === null ? null : { slope: law.slope, r2: law.r2 };
}

const noSlope = 'no slope: the entropy has to move at two different learning rates for one; give more of them to eta';

/** Changes of entropy below these, relative to the entropy, are rounding. */
const floor = { double: 1e-12, single: 1e-6 };

function warningsOf(
  { true: { entries, num_sequences: answers }, gns }: Experiment,
  { precision }: EntropyConfig,
): string[] {
  const found = entries.flatMap(
    ({ eta, delta_h_true: change, diagnostics: { ess, clip_fraction: cut, base_entropy: H } }) => [
      ...(ess < answers / 2
        ? [`at η ${eta} the weights count as ${shortNumber(ess)} of ${answers} answers: too large a step to measure`]
        : []),
      ...(cut > 0 ? [`at η ${eta} ${shortNumber(100 * cut)} % of the weights were cut`] : []),
      ...(eta > 0 && Math.abs(change) < floor[precision] * H
        ? [`at η ${eta} the change is below what ${precision} precision sees`]
        : []),
    ],
  );
  const isClear = Number.isFinite(gns.b_simple);
  return isClear ? found : [...found, 'the noise scale cannot be told from this batch: a term of it is not above zero'];
}

function rowOf(result: EntropyResult, step: number): Row {
  const { approx, base_entropy: base, update, gns, fit } = result;
  const perRate = result.true.entries.flatMap(({ eta, delta_h_true, standard_error, ratio, z, diagnostics }) => [
    [`entropy/change/${eta}`, delta_h_true] as const,
    [`entropy/change_error/${eta}`, standard_error] as const,
    [`entropy/ratio/${eta}`, ratio] as const,
    [`entropy/ess/${eta}`, diagnostics.ess] as const,
    ...(z === undefined ? [] : [[`entropy/z/${eta}`, z.plain] as const]),
  ]);
  return {
    step,
    'entropy/simple': base.simple.value,
    'entropy/rao_blackwell': base.raoBlackwell.value,
    'entropy/slope': approx.delta_h_per_lr,
    'entropy/slope_error': approx.standard_error,
    'entropy/slope_without_denominator': approx.without_denominator,
    'entropy/eta_star': approx.eta_star,
    ...Object.fromEntries(perRate),
    'entropy/fit_slope': fit?.slope ?? null,
    'entropy/fit_r2': fit?.r2 ?? null,
    'update/norm': update.vec_norm,
    'gns/b_simple': Number.isFinite(gns.b_simple) ? gns.b_simple : null,
    ...(gns.two_sizes !== null && {
      'gns/b_simple_two_sizes': Number.isFinite(gns.two_sizes.b_simple) ? gns.two_sizes.b_simple : null,
    }),
    'gns/signal': gns.signal,
    'gns/noise': gns.noise,
  };
}

function summaryText({ base_entropy: { raoBlackwell }, approx, fit }: EntropyResult): string {
  const slope = `ΔH/η ${shortNumber(approx.delta_h_per_lr)} ± ${shortNumber(approx.standard_error)}`;
  const law = fit === null ? '' : ` · |ΔH| ∝ η^${shortNumber(fit.slope)}, R² ${fit.r2.toFixed(4)}`;
  return `entropy ${shortNumber(raoBlackwell.value)} ± ${shortNumber(raoBlackwell.standardError)} nats · ${slope}${law}`;
}

/**
 * The result as lines: a table of the learning rates, as means over the repetitions, and how often predictions were
 * right within their errors.
 *
 * @param width In columns.
 */
export function entropyLines(results: readonly EntropyResult[], width: number): string[] {
  const rows = results[0]!.true.entries.map((_, at) => results.map((result) => ({ result, entry: result.true.entries[at]! }))); // prettier-ignore
  const right = columnsOf(rows)('right');
  const meanOf = (of: (entry: Entry, result: EntropyResult) => number) => (runs: (typeof rows)[number]) =>
    shortNumber(mean(runs.map(({ entry, result }) => of(entry, result))));
  const columns = [
    right(
      'η',
      meanOf(({ eta }) => eta),
    ),
    right(
      'ΔH',
      meanOf((entry) => entry.delta_h_true),
    ),
    right(
      'ratio',
      meanOf((entry) => entry.ratio),
    ),
    right(
      'ΔH adjusted',
      meanOf((entry) => entry.delta_h_adjusted),
    ),
    right(
      'η·∇H·v',
      meanOf(({ eta }, { approx }) => eta * approx.delta_h_per_lr),
    ),
    right(
      'ESS',
      meanOf(({ diagnostics }) => diagnostics.ess),
    ),
  ];
  const warnings = new Set(results.flatMap((result) => result.warnings));
  return [
    ...tableLines(columns, width),
    ...agreementLines(results),
    ...[...warnings].map((text) => `warning: ${text}`),
  ];
}

/** The two-sided 95 % quantile, in standard errors. */
const mostApart = 1.96;

/**
 * How often predictions of the entropy change were right over repetitions, with the true change measured on other
 * answers. No lines when prediction and truth use the same answers.
 */
function agreementLines(results: readonly Experiment[]): string[] {
  const found = results.flatMap(({ true: { entries } }) => entries.flatMap(({ z }) => z ?? []));
  if (found.length === 0) return [];
  const within = (name: keyof (typeof found)[number]) => found.filter((z) => Math.abs(z[name]) < mostApart).length;
  return [
    `truth and prediction within ${mostApart} of their errors: ${within('plain')} of ${found.length}; with control variates ${within('controlled')}; without the change of lengths ${within('without_denominator')}`,
    ...ruleLines(results),
  ];
}

/** The first order and the covariance rule beside the truth at the lowest learning rate, over repetitions. */
function ruleLines(results: readonly Experiment[]): string[] {
  const measured = results.map(({ approx, covariance, true: { entries } }) => {
    const lowest = entries.filter(({ eta }) => eta > 0).sort((a, b) => a.eta - b.eta)[0];
    return {
      truth: (lowest?.delta_h_controlled ?? NaN) / (lowest?.eta ?? NaN),
      ...{ 'first order': approx.delta_h_per_lr, 'without the change of lengths': approx.without_denominator },
      ...{ 'covariance rule': covariance.token, 'covariance rule, weighted': covariance.token_weighted },
    };
  });
  const truth = measured.map((each) => each.truth);
  const names = [
    'first order',
    'without the change of lengths',
    'covariance rule',
    'covariance rule, weighted',
  ] as const;
  return names.map((name) => {
    const predictions = measured.map((each) => each[name]);
    const right = predictions.filter((value, at) => Math.sign(value) === Math.sign(truth[at]!)).length;
    return `${name}: the sign of ΔH in ${right} of ${predictions.length}${correlationText(predictions, truth)}`;
  });
}

/** The correlation with the 95 % interval of Fisher's transformation; empty for fewer than four pairs. */
function correlationText(x: readonly number[], y: readonly number[]): string {
  if (x.length < 4) return '';
  const [meanX, meanY] = [total(x) / x.length, total(y) / y.length];
  const product = (a: readonly number[], b: readonly number[], meanA: number, meanB: number) =>
    a.reduce((sum, each, at) => sum + (each - meanA) * (b[at]! - meanB), 0);
  const r = product(x, y, meanX, meanY) / Math.sqrt(product(x, x, meanX, meanX) * product(y, y, meanY, meanY));
  const width = mostApart / Math.sqrt(x.length - 3);
  const [low, high] = [Math.tanh(Math.atanh(r) - width), Math.tanh(Math.atanh(r) + width)];
  return `; correlation with it ${shortNumber(r)} (95 %: ${shortNumber(low)} … ${shortNumber(high)})`;
}
