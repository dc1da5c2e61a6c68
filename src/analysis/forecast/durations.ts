import type { Parameters } from '../../base/scalar.js';

/** Parameters that name a repetition or a place, and do not affect the duration. */
const repetition = /(^|[._-])(seed|secret|random_state|run_id|name|path|dir|directory|file)$/i;

/** The name of what a run is made of, as in `model_name`, is a setting, where that of a run is not. */
const choice =
  /(^|[._-])(model|dataset|data|task|env|environment|game|optimizer|algo|algorithm|policy|agent|loss|scheduler|tokenizer|encoder|backbone|architecture|network|method|reward)[._-]name$/i;

/** Whether a parameter only distinguishes repetitions of one setting, as a seed does. */
export function namesRepetition(parameter: string): boolean {
  return repetition.test(parameter) && !choice.test(parameter);
}

/** The properties by which runs count as alike. `isPreparation`: other groups wait for its group, as for a warm-up. */
export type RunKind = {
  readonly sweep: string;
  readonly group: string;
  readonly parameters: Parameters;
  readonly isPreparation: boolean;
};

/** How long a run took from its start to its end. */
export type Duration = {
  readonly kind: RunKind;
  readonly seconds: number;
  /** Share of its budget that the run had used at its end, 0 to 1; null: unknown. */
  readonly share: number | null;
  /** Weight of this duration: 1 where the run has ended, less where its end is an estimate. */
  readonly weight: number;
};

/** The expected duration of a run, estimated from others: logarithms of seconds, since durations differ by factors. */
export type Likeness = {
  readonly centre: number;
  /** Standard deviation of the error of the centre, which all runs share: averaging over runs does not reduce it. */
  readonly doubt: number;
  /** Standard deviation of single runs around the centre. */
  readonly spread: number;
  /** Computed on first use. */
  readonly shape: () => Shape;
};

/** The distribution of a group's runs around their expected durations. */
export type Shape = {
  /** Effective number of runs behind it. */
  readonly count: number;
  /** Quantiles of equal weight, the shortest first. */
  readonly marks: readonly Mark[];
};

/** One quantile. `at`: standard deviations from the centre. `share`: as in `Duration`. */
export type Mark = { readonly at: number; readonly share: number | null };

/** Texts of settings. A run's parameters do not change, and writing them as text takes longer than anything else here. */
const settings = new WeakMap<Parameters, string>();

/** A text that is equal for runs that differ in nothing but their seeds. */
export function settingOf(parameters: Parameters): string {
  const known = settings.get(parameters);
  if (known !== undefined) return known;
  const text = JSON.stringify(Object.entries(parameters).filter(([name]) => !namesRepetition(name)));
  settings.set(parameters, text);
  return text;
}
