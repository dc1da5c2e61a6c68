import { isMapValue, isSeedName, type Scalar } from '../../base/scalar.js';
import { identifierOf, type Value } from '../expand/expression/cel-environment.js';
import { compileExpression } from '../expand/expression/expression.js';
import type { Distribution } from '../expand/sampling/distribution.js';
import type { SamplingKind } from '../expand/sampling/unit-points.js';
import type {
  Breaker,
  DoneRule,
  EarlyTerminate,
  ExecutorName,
  Objective,
  Resources,
  RetryRule,
  StartRule,
  StopRule,
} from '../planned-run.js';
import type { CommandLine } from './command-list.js';
import type { KeyPath, Place } from './diagnostic.js';
import type { NotifyText } from './policy-schema.js';
import type { WrittenNumbers } from './yaml-source.js';

/** How one parameter gets its value. A constant is an axis of one value. */
export type ParameterRule = {
  /** Where it is in the file; null: in a command-line option. */
  readonly keys: KeyPath | null;
  /** The names of its nesting, the outermost first: `optimizer`, `lr`. Empty: in a command-line option. */
  readonly path: readonly string[];
  /** When this expression is false, the parameter is not passed at this point. */
  readonly when: string | null;
} & (
  | {
      readonly kind: 'axis';
      readonly values: readonly Value[];
      /** Whole numbers count as doubles in expressions. */
      readonly double: boolean;
      /** Written as a single value, not as a list of one. */
      readonly constant: boolean;
      /** Probability of each value; null: all are equally likely. */
      readonly probabilities: readonly number[] | null;
      /** Each drawn point is run with every one of the values. */
      readonly crossed: boolean;
      /** How its numbers are written in the file. */
      readonly written: WrittenNumbers;
    }
  | { readonly kind: 'drawn'; readonly distribution: Distribution }
  | { readonly kind: 'derived'; readonly expr: string }
);
export type ParameterRules = ReadonlyMap<string, ParameterRule>;

/** A value of a parameter that means it is not passed at this point. */
export const unset = { unset: true } as const;

export function isUnset(value: Value): boolean {
  return isMapValue(value) && value.unset === true && Object.keys(value).length === 1;
}

/** A text of the file that is compiled later, and its place. */
export type Located<Content> = { readonly content: Content; readonly keys: KeyPath };

/** An entry of `include` or `exclude`. */
export type Edit = Readonly<Record<string, Scalar>>;

/**
 * Which of all possible points are run. `cap`: limit on their number; null: the file sets none. `open`: they are chosen one by one,
 * each when there is room for its run, until there are `cap` or `openCap` of them.
 */
export type Method =
  | { readonly kind: 'grid'; readonly cap: number | null }
  | {
      readonly kind: SamplingKind | 'bayes';
      readonly cap: number | null;
      readonly seed: number;
      readonly open: boolean;
    };

/** Limit of an open group without `run_cap`, which W&B itself would never end. */
export const openCap = 100;

/** The method by the file and the options. */
export function methodFrom(
  kind: Method['kind'],
  { cap, seed, dialect }: { cap: number | null; seed: number; dialect: Block['dialect'] },
): Method {
  if (kind === 'grid') return { kind, cap };
  const open = kind === 'bayes' || (cap === null && kind === 'random' && dialect === 'wandb');
  return { kind, cap, seed, open };
}

/** All parameters that any point of a block may have, in file order. */
export function parameterNames({
  parameters,
  cases,
  include,
}: Pick<Block, 'parameters' | 'cases' | 'include'>): string[] {
  const included = include.content.flatMap((entry) => Object.keys(entry));
  return [...new Set([...[parameters, ...cases].flatMap((rules) => [...rules.keys()]), ...included])];
}

/** Parameters that are computed from seeds, directly or not: they also differ between runs that differ in their seeds alone. */
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

/** A group that another one needs. `at`: place below `needs`. `by` empty: all its runs must be done. */
export type NeededGroup = { readonly group: string; readonly by: readonly string[]; readonly at: KeyPath };

/** The groups from whose runs the points of a group are made (`for_each`, `after_each`). */
export type EachRun = {
  /** The source groups. `at`: place below the key. */
  readonly groups: readonly { readonly name: string; readonly at: KeyPath }[];
  /** The place of the key. */
  readonly keys: KeyPath;
  /** Rules in `parameters` that stand for a value of the source run. Every other rule there is the group's own. */
  readonly carried: ParameterRules;
  /** Whether each of its runs starts after its source run (`after_each`); otherwise it waits for none. */
  readonly after: boolean;
  /** Another key of the group that also defines points, which is an error; null: there is none. */
  readonly beside: string | null;
};

/** One group with everything it inherits and all defaults, not yet expanded. */
export type Block = {
  readonly group: string;
  /** Where the group begins; empty when the file has no groups. */
  readonly keys: KeyPath;
  readonly title: string | null;
  readonly needs: readonly NeededGroup[];
  /** Only planned when it is asked for by name, or needed by a planned group. */
  readonly optional: boolean;
  /** Templates. Without `name`, names consist of the group and the varying parameters. */
  readonly name: Located<string> | null;
  readonly subgroup: Located<string> | null;
  /** Words of the command with macros. `program`: the value of `${program}`. */
  readonly command: Located<readonly string[]>;
  readonly program: string | null;
  readonly resumeArgs: Located<readonly string[]>;
  readonly env: Located<Readonly<Record<string, string>>>;
  readonly cwd: Located<string> | null;
  /** `snapshot`: programs start from a copy of the code, made at the launch. */
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
  /** Null: the group has points of its own. */
  readonly each: EachRun | null;
  /** `wandb`: macros, nested parameters and the order of points follow W&B. */
  readonly dialect: 'own' | 'wandb';
  /** When this expression is false, the point does not exist. */
  readonly when: Located<string> | null;
  /** Parameters that are budget, not identity. */
  readonly extends: Located<readonly string[]>;
  readonly stopWhen: Located<StopRule> | null;
  readonly done: Located<DoneRule>;
  readonly resources: Resources;
  /** In seconds, also for `timeout`. */
  readonly grace: number;
  readonly timeout: number | null;
  readonly priority: number;
  readonly stdin: 'none' | 'type';
  /** Whether each run has a terminal of its own, which is its standard input, whatever `stdin` says. */
  readonly terminal: boolean;
  readonly retry: RetryRule;
  readonly breaker: Breaker | null;
  /** Null: its runs may start at any time. */
  readonly start: Omit<StartRule, 'zone'> | null;
  readonly objective: Objective | null;
  readonly earlyTerminate: Located<EarlyTerminate> | null;
  readonly show: readonly string[];
  readonly x: string;
  readonly progress: Located<{ readonly key: string; readonly total: number | string }> | null;
  /** Words with macros: further folders in which the runs write metrics. */
  readonly folders: Located<readonly string[]>;
  /** Regular expressions for the output of the runs, by metric. */
  readonly patterns: Readonly<Record<string, string>>;
};

/** A sweep file that was parsed and is valid. `expandSweep` applies the options. */
export type SweepFile = {
  readonly path: string;
  readonly text: string;
  readonly name: string;
  readonly description: string | null;
} & (
  | {
      readonly kind: 'groups';
      readonly blocks: readonly Block[];
      readonly notify: NotifyText | null;
      readonly executor: ExecutorName | null;
      /** Notes for the user who launches it. */
      readonly notes: readonly string[];
      readonly placeOf: (keys: KeyPath, span?: { start: number; end: number }) => Place;
    }
  | { readonly kind: 'commands'; readonly lines: readonly CommandLine[] }
);

/** Whether the group sets the parameter itself, which overrides the source run's value. */
export function isOwn({ each, parameters }: Block, name: string): boolean {
  return each === null || parameters.get(name) !== each.carried.get(name);
}

/** Source groups of `after_each`, each of whose runs is followed by one of this group's. */
export function sourcesAfter({ each }: Block): string[] {
  return each?.after === true ? each.groups.map(({ name }) => name) : [];
}

/** Groups whose runs it waits for. */
export function neededGroups(block: Block): string[] {
  return [...new Set([...block.needs.map(({ group }) => group), ...sourcesAfter(block)])];
}

/** Whether a key was written above the groups. */
export function isInherited({ keys }: Located<unknown>, block: Pick<Block, 'keys'>): boolean {
  return block.keys.length > 0 && keys[0] !== 'groups';
}
