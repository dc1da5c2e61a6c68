import type { KeyPath } from './complaint.js';
import type { Value } from './cel-value.js';
import type { DoneRule, Resources, StopRule } from './planned-run.js';

/** How one parameter gets its value. A constant is an axis of one value. */
export type ParameterRule = {
  /** Where it was written; null: in an option of the command line. */
  readonly keys: KeyPath | null;
  /** When false, the parameter is not passed at this point. */
  readonly when: string | null;
} & (
  | {
      readonly kind: 'axis';
      readonly values: readonly Value[];
      /** Whole numbers count as doubles in expressions. */ readonly double: boolean;
    }
  | { readonly kind: 'derived'; readonly expr: string }
);
export type ParameterRules = ReadonlyMap<string, ParameterRule>;

/** A text of the file that is compiled later, and where it stands. */
export type Written<Content> = { readonly content: Content; readonly keys: KeyPath };

/** All parameters that any case of a block may set, in the order of the file. */
export function parameterNames({ parameters, cases }: Pick<Block, 'parameters' | 'cases'>): string[] {
  return [...new Set([parameters, ...cases].flatMap((rules) => [...rules.keys()]))];
}

/** One group with all it inherits and all defaults, not yet expanded. */
export type Block = {
  readonly group: string;
  /** Where the group begins; empty when the file has no groups. */
  readonly keys: KeyPath;
  readonly title: string | null;
  readonly needs: readonly string[];
  /** Only planned when it is asked for by name, or needed by a group that is planned. */
  readonly optional: boolean;
  /** Templates. Without `name`, a name is made of the group and the parameters that vary. */
  readonly name: Written<string> | null;
  readonly subgroup: Written<string> | null;
  /** Program words with macros. `program`: what `${program}` stands for. */
  readonly command: Written<readonly string[]>;
  readonly program: string | null;
  readonly resumeArgs: Written<readonly string[]>;
  readonly env: Written<Readonly<Record<string, string>>>;
  readonly cwd: Written<string> | null;
  readonly parameters: ParameterRules;
  /** Alternatives on top of `parameters`; empty: just the parameters. */
  readonly cases: readonly ParameterRules[];
  /** When false, the point does not exist. */
  readonly when: Written<string> | null;
  /** Parameters that are budget, not identity. */
  readonly extends: Written<readonly string[]>;
  readonly stopWhen: Written<StopRule> | null;
  readonly done: Written<DoneRule>;
  readonly resources: Resources;
  readonly grace: number;
  readonly show: readonly string[];
  readonly x: string;
  readonly progress: Written<{ readonly key: string; readonly total: number | string }> | null;
};
