import { isMapValue, isSeedName, type Scalar } from '../../base/scalar.js';
import { identifierOf, type Value } from '../expand/expression/cel-environment.js';
import { compileExpression } from '../expand/expression/expression.js';
import type { Distribution } from '../expand/sampling/distribution.js';
import type { SamplingKind } from '../expand/sampling/unit-points.js';
import type { Breaker, DoneRule, EarlyTerminate, Objective, Resources, RetryRule, StopRule } from '../planned-run.js';
import type { KeyPath } from './diagnostic.js';
import type { WrittenNumbers } from './yaml-source.js';

/** How one parameter gets its value. A constant is an axis of one value. */
export type ParameterRule = {
  /** Where it was written; null: in an option of the command line. */
  readonly keys: KeyPath | null;
  /** The names of which its own is made, the outermost first: `optimizer`, `lr`. Empty: in an option of the command line. */
  readonly path: readonly string[];
  /** When false, the parameter is not passed at this point. */
  readonly when: string | null;
} & (
  | {
      readonly kind: 'axis';
      readonly values: readonly Value[];
      /** Whole numbers count as doubles in expressions. */
      readonly double: boolean;
      /** Written as a value and not as a list of one. */
      readonly constant: boolean;
      /** How likely each value is drawn; null: all alike. */
      readonly probabilities: readonly number[] | null;
      /** Each point that is drawn is run with every one of the values. */
      readonly crossed: boolean;
      /** How its numbers are written. */
      readonly written: WrittenNumbers;
    }
  | { readonly kind: 'drawn'; readonly distribution: Distribution }
  | { readonly kind: 'derived'; readonly expr: string }
);
export type ParameterRules = ReadonlyMap<string, ParameterRule>;

/** Among the values of a parameter: at this point it is not passed. */
export const unset = { unset: true } as const;

export function isUnset(value: Value): boolean {
  return isMapValue(value) && value.unset === true && Object.keys(value).length === 1;
}

/** A text of the file that is compiled later, and where it stands. */
export type Located<Content> = { readonly content: Content; readonly keys: KeyPath };

/** An entry of `include` or `exclude`. */
export type Edit = Readonly<Record<string, Scalar>>;

/**
 * Which points of all those there could be are run. `cap`: at most so many; null: the file does not say. `open`: they are
 * chosen one by one, each when there is room for its run, until there are `cap` or `openCap` of them.
 */
export type Method =
  | { readonly kind: 'grid'; readonly cap: number | null }
  | {
      readonly kind: SamplingKind | 'bayes';
      readonly cap: number | null;
      readonly seed: number;
      readonly open: boolean;
    };

/** Runs of an open group without `run_cap`, which W&B itself would never end. */
export const openCap = 100;

/** The method as the file and the options have it. */
export function methodFrom(
  kind: Method['kind'],
  { cap, seed, dialect }: { cap: number | null; seed: number; dialect: Block['dialect'] },
): Method {
  if (kind === 'grid') return { kind, cap };
  const open = kind === 'bayes' || (cap === null && kind === 'random' && dialect === 'wandb');
  return { kind, cap, seed, open };
}

/** All parameters that any point of a block may have, in the order of the file. */
export function parameterNames({
  parameters,
  cases,
  include,
}: Pick<Block, 'parameters' | 'cases' | 'include'>): string[] {
  const included = include.content.flatMap((entry) => Object.keys(entry));
  return [...new Set([...[parameters, ...cases].flatMap((rules) => [...rules.keys()]), ...included])];
}

/** Parameters that are computed from seeds, directly or not: of runs that differ in their seeds alone they differ as well. */
export function computedFromSeeds(blocks: readonly Pick<Block, 'parameters' | 'cases' | 'include'>[]): string[] {
  const rules = blocks.flatMap(({ parameters, cases }) => [parameters, ...cases].flatMap((each) => [...each]));
  const reads = rules.flatMap(([name, rule]) =>
    rule.kind === 'derived' ? [{ name, names: compileExpression(rule.expr).names }] : [],
  );
  const seeds = new Set(blocks.flatMap(parameterNames).filter(isSeedName).map(identifierOf));
  const computed = new Set<string>();
  for (let before = -1; before < computed.size;) {
    before = computed.size;
    for (const { name, names } of reads) {
      if (names.some((each) => seeds.has(each))) computed.add(name);
    }
    for (const name of computed) seeds.add(identifierOf(name));
  }
  return [...computed];
}

/** What a group needs, as it is written. `at`: below `needs`. `by` empty: all runs of the other group must be done. */
export type NeededGroup = { readonly group: string; readonly by: readonly string[]; readonly at: KeyPath };

/** Where the points of a group come from that are made of the runs of other groups. */
export type EachRun = {
  /** Those groups. `at`: below the key. */
  readonly groups: readonly { readonly name: string; readonly at: KeyPath }[];
  /** Where it was written. */
  readonly keys: KeyPath;
  /** What stands in `parameters` for a value that comes with the run. Every other rule there is the group's own. */
  readonly carried: ParameterRules;
  /** Each of its runs starts when the run is done that it is made for (`after_each`); else there are no such runs to wait for. */
  readonly after: boolean;
  /** A key of the group that says which points there are, too; null: none does. */
  readonly beside: string | null;
};

/** One group with all it inherits and all defaults, not yet expanded. */
export type Block = {
  readonly group: string;
  /** Where the group begins; empty when the file has no groups. */
  readonly keys: KeyPath;
  readonly title: string | null;
  readonly needs: readonly NeededGroup[];
  /** Only planned when it is asked for by name, or needed by a group that is planned. */
  readonly optional: boolean;
  /** Templates. Without `name`, a name is made of the group and the parameters that vary. */
  readonly name: Located<string> | null;
  readonly subgroup: Located<string> | null;
  /** Program words with macros. `program`: what `${program}` stands for. */
  readonly command: Located<readonly string[]>;
  readonly program: string | null;
  readonly resumeArgs: Located<readonly string[]>;
  readonly env: Located<Readonly<Record<string, string>>>;
  readonly cwd: Located<string> | null;
  /** `snapshot`: programs are started from a copy of the code that is made at the launch. */
  readonly code: 'snapshot' | 'live';
  readonly parameters: ParameterRules;
  /** Alternatives on top of `parameters`; empty: just the parameters. */
  readonly cases: readonly ParameterRules[];
  /** Parameters that were written twice, once nested in another and once with a dot. */
  readonly twice: readonly Located<string>[];
  readonly include: Located<readonly Edit[]>;
  /** How the numbers of `include` are written, by parameter. */
  readonly writtenInInclude: ReadonlyMap<string, WrittenNumbers>;
  readonly exclude: Located<readonly Edit[]>;
  readonly method: Located<Method>;
  /** null: its points are its own. */
  readonly each: EachRun | null;
  /** `wandb`: macros, nested parameters and the order of points are as in W&B. */
  readonly dialect: 'own' | 'wandb';
  /** When false, the point does not exist. */
  readonly when: Located<string> | null;
  /** Parameters that are budget, not identity. */
  readonly extends: Located<readonly string[]>;
  readonly stopWhen: Located<StopRule> | null;
  readonly done: Located<DoneRule>;
  readonly resources: Resources;
  /** Seconds. */
  readonly grace: number;
  readonly timeout: number | null;
  readonly priority: number;
  readonly retry: RetryRule;
  readonly breaker: Breaker | null;
  readonly objective: Objective | null;
  readonly earlyTerminate: Located<EarlyTerminate> | null;
  readonly show: readonly string[];
  readonly x: string;
  readonly progress: Located<{ readonly key: string; readonly total: number | string }> | null;
  /** Words with macros: where else the runs write metrics. */
  readonly folders: Located<readonly string[]>;
  /** By metric, regular expressions for what the runs print. */
  readonly patterns: Readonly<Record<string, string>>;
};
