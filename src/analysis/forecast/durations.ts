import type { Parameters } from '../../base/scalar.js';

/** Parameters that name a repetition or a place, and are no condition of the experiment. */
const repetition = /(^|[._-])(seed|secret|random_state|run_id|name|path|dir|directory|file)$/i;

/** Whether a parameter tells repetitions of one setting apart, as a seed does. */
export function namesRepetition(parameter: string): boolean {
  return repetition.test(parameter);
}

/** What tells which runs are of one kind. `isPreparation`: other groups wait for its group, as for a warm-up. */
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
  /** Share of its budget that it had used when it ended, 0 to 1; null: it did not say. */
  readonly share: number | null;
  /** How much it counts: 1 where the run has ended, less where its end is an estimate. */
  readonly weight: number;
};

/** How long a run takes, as others say. Logarithms of seconds, as runs differ by factors. */
export type Likeness = {
  readonly centre: number;
  /** Standard deviation of what is not known of the centre. Runs share it: more of them do not average it away. */
  readonly doubt: number;
  /** Standard deviation of single runs around the centre. */
  readonly spread: number;
  /** Worked out when it is asked for. */
  readonly shape: () => Shape;
};

/** How the runs of a group lie around what is expected of them. */
export type Shape = {
  /** How many runs say so. */
  readonly count: number;
  /** As many of the runs lie between any two of these, the shortest first. */
  readonly marks: readonly Mark[];
};

/** `at`: standard deviations from the centre. `share`: as of a duration. */
export type Mark = { readonly at: number; readonly share: number | null };

/** Parameters of a run do not change, and putting them in words takes longer than all else here. */
const settings = new WeakMap<Parameters, string>();

/** The same text for runs that differ in nothing but their seeds. */
export function settingOf(parameters: Parameters): string {
  const known = settings.get(parameters);
  if (known !== undefined) return known;
  const text = JSON.stringify(Object.entries(parameters).filter(([name]) => !namesRepetition(name)));
  settings.set(parameters, text);
  return text;
}
