/** `memrl entropy`: what a gradient step does to the entropy of a policy, as predicted to first order and in truth. */
import { join } from 'node:path';
import { fitPowerLaw } from '../../../analysis/scaling.js';
import { mean } from '../../../analysis/statistics.js';
import { UserError } from '../../../base/user-error.js';
import { runFiles } from '../../../contract/files.js';
import { shortNumber } from '../../../text/numbers.js';
import { columnsOf, tableLines } from '../../../text/table.js';
import { inDoublePrecision } from '../../engine/double-precision.js';
import { openEnvironment } from '../../environments/open-environment.js';
import { makeDirectory } from '../../run/make-directory.js';
import { appendRow, dropRowsFrom, type Row } from '../../run/metrics-file.js';
import type { ProcessContext, StopSignal } from '../../run/process-context.js';
import { writeWhole } from '../../run/run-directory.js';
import { textTokenizer } from '../../service/open-model.js';
import { openSaved } from '../eval-run/open-saved.js';
import { experiment, type Experiment } from './experiment.js';
import type { EntropyConfig } from './keys.js';

/**
 * One learning rate. `predicted`: η times the slope. `ratio`: of the truth to the prediction by the very same estimate; what is not 1 of it is
 * of higher order. `adjusted`: the truth without the noise that the two share.
 */
type Line = Readonly<Record<'eta' | 'change' | 'standardError' | 'adjusted' | 'predicted' | 'ratio' | 'ess', number>>;

/** `fit`: of |ΔH| against η, a power law; null: fewer than two learning rates moved the entropy. */
export type EntropyResult = Experiment & {
  readonly fit: { readonly slope: number; readonly r2: number } | null;
  readonly warnings: readonly string[];
};

/** Writes `run_NN/plan.json` and `results.json` for each repetition, and a row of metrics. @returns the signal that ended it, if one did. */
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
  const { step } = await exact.optimizerState();
  if (step === 0 && config.update === 'adam')
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
    const place = join(directory, `run_${String(run).padStart(2, '0')}`);
    makeDirectory(place, 'log_path');
    writeWhole(
      join(place, 'plan.json'),
      `${JSON.stringify({ ...config, log_path: directory, seed, optimizer_step: step }, null, 2)}\n`,
    );
    writeWhole(join(place, 'results.json'), `${JSON.stringify(result)}\n`);
    appendRow(metrics, rowOf(result, run));
    results.push(result);
    context.log(`run ${run + 1}/${config.n_runs}: ${summaryText(result)}`);
  }
  return results;
}

function linesOf({ approx, true: { entries } }: Experiment): Line[] {
  return entries.map(
    ({
      eta,
      delta_h_true: change,
      standard_error: standardError,
      delta_h_adjusted: adjusted,
      diagnostics: { ess },
    }) => {
      const ratio = change / (eta * approx.whole.delta_h_per_lr);
      return { eta, change, standardError, adjusted, predicted: eta * approx.delta_h_per_lr, ratio, ess };
    },
  );
}

function fitOf(measured: Experiment) {
  const points = linesOf(measured).map(({ eta, change }) => ({ x: eta, y: Math.abs(change) }));
  const law = fitPowerLaw(points);
  return law === null ? null : { slope: law.slope, r2: law.r2 };
}

const noSlope = 'no slope: the entropy has to move at two different learning rates for one; give more of them to eta';

/** Changes of entropy that are nearer to 0 than rounding is, relative to the entropy. */
const floor = { double: 1e-12, single: 1e-6 };

function warningsOf({ true: { entries }, gns, B_E }: Experiment, { precision }: EntropyConfig): string[] {
  const found = entries.flatMap(
    ({ eta, delta_h_true: change, diagnostics: { ess, clip_fraction: cut, base_entropy: H } }) => [
      ...(ess < B_E / 2
        ? [`at η ${eta} the weights count as ${shortNumber(ess)} of ${B_E} answers: too large a step to measure`]
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
  const perRate = linesOf(result).flatMap(({ eta, change, standardError, ratio, ess }) => [
    [`entropy/change/${eta}`, change] as const,
    [`entropy/change_error/${eta}`, standardError] as const,
    [`entropy/ratio/${eta}`, ratio] as const,
    [`entropy/ess/${eta}`, ess] as const,
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
    'gns/b_simple_two_sizes': Number.isFinite(gns.two_sizes.b_simple) ? gns.two_sizes.b_simple : null,
    'gns/signal': gns.signal,
    'gns/noise': gns.noise,
  };
}

function summaryText({ base_entropy: { raoBlackwell }, approx, fit }: EntropyResult): string {
  const slope = `ΔH/η ${shortNumber(approx.delta_h_per_lr)} ± ${shortNumber(approx.standard_error)}`;
  const law = fit === null ? '' : ` · |ΔH| ∝ η^${shortNumber(fit.slope)}, R² ${fit.r2.toFixed(4)}`;
  return `entropy ${shortNumber(raoBlackwell.value)} ± ${shortNumber(raoBlackwell.standardError)} nats · ${slope}${law}`;
}

/** For people: a table of the learning rates, as means over the repetitions. @param width In columns. */
export function entropyLines(results: readonly EntropyResult[], width: number): string[] {
  const runs = results.map(linesOf);
  const rows = runs[0]!.map(({ eta }, at) => ({ eta, lines: runs.map((lines) => lines[at]!) }));
  const column = columnsOf(rows);
  const right = column('right');
  const meanOf = (name: keyof Line) => (row: (typeof rows)[number]) =>
    shortNumber(mean(row.lines.map((line) => line[name])));
  const columns = [
    right('η', ({ eta }) => shortNumber(eta)),
    right('ΔH', meanOf('change')),
    right('ratio', meanOf('ratio')),
    right('ΔH adjusted', meanOf('adjusted')),
    right('η·∇H·v', meanOf('predicted')),
    right('ESS', meanOf('ess')),
  ];
  const warnings = new Set(results.flatMap((result) => result.warnings));
  return [...tableLines(columns, width), ...[...warnings].map((text) => `warning: ${text}`)];
}
