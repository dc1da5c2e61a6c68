import * as z from 'zod';
import { Name } from '../../base/ids.js';
import { patternOrNull } from '../../text/pattern.js';
import type { NeededGroup } from './sweep-file.js';
import type { KeyPath } from './diagnostic.js';
import { condition, parameterName, ParametersText, scalar } from './parameter-schema.js';
import { ExecutorName, type Resources } from '../planned-run.js';
import {
  BreakerText,
  EarlyTerminateText,
  GraceText,
  MemoryText,
  MetricText,
  NotifyText,
  PriorityText,
  RetryText,
  SlurmText,
  StartText,
  someTime,
  TimeoutText,
} from './policy-schema.js';

/**
 * The schema of a sweep file as it is written; inheritance and defaults are applied later.
 *
 * Every schema's message states what is expected, to follow "expected …". Unknown keys are refused: a misspelt key would otherwise
 * silently be a default.
 */
const text = z.string('a text');
const word = z.union([z.string(), z.number(), z.boolean()], 'a word').transform(String);
const words = (what: string) => z.array(word, what);
const oneOrMore = (what: string) => z.union([z.array(z.string(), what), z.string().transform((name) => [name])], what);

const StopText = z.union(
  [
    z.string(),
    z.strictObject({ when: z.string('an expression'), for: z.int('a whole number').positive('at least 1').optional() }),
    z.null(),
  ],
  'an expression over metrics, {when: "…", for: 3}, or null',
);

function isPattern(source: string): boolean {
  return source !== '' && patternOrNull(source) !== null;
}

function nonEmpty([first = '', ...others]: string[]): [string, ...string[]] {
  return [first, ...others];
}

const DoneText = z.union(
  [
    z.strictObject({ exit: z.literal(0, '0, the only exit code that means success') }),
    z.strictObject({ file: text, where: text.optional() }),
    z.strictObject({ output: z.string('a regular expression').refine(isPattern, 'a regular expression') }),
    z.strictObject({
      command: words('a list of words, for example [test, -s, model.pt]')
        .min(1, 'at least one word')
        .transform(nonEmpty),
      timeout: someTime.optional(),
    }),
  ],
  '{exit: 0}, {file: model.pt}, {file: checkpoints.jsonl, where: \'name == "final"\'} {output: "Training finished"} or {command: [python, check.py]}',
);

const ResourcesText = z.strictObject(
  {
    gpus: z.union([z.int().nonnegative(), z.literal('auto')], '0, 1 or auto').optional(),
    per_gpu: z.int('a whole number').positive('at least 1').optional(),
    gpu_memory: MemoryText.optional(),
    mps: z.enum(['auto', 'off'], 'auto or off').optional(),
    cpus: z.int('a whole number').positive('at least 1').optional(),
    nice: z.int('a whole number').min(-20, 'a niceness from -20 to 19').max(19, 'a niceness from -20 to 19').optional(),
  } satisfies Record<Exclude<keyof Resources, 'slurm'>, z.ZodType>,
  '{gpus: auto, per_gpu: 1, cpus: 1}',
);

/** A regular expression; its first group captures the number. */
const pattern = z
  .string('a regular expression')
  .refine(hasGroup, 'a regular expression with a group: "loss is (\\S+)"');

function hasGroup(source: string): boolean {
  return (patternOrNull(source)?.groupCount() ?? 0) > 0;
}

const MetricsText = z.strictObject(
  {
    show: oneOrMore('a list of metric keys').optional(),
    x: text.optional(),
    folders: oneOrMore('a list of folders').optional(),
    patterns: z.record(z.string(), pattern, 'a map from metric keys to regular expressions').optional(),
    progress: z
      .union(
        [
          z.strictObject({
            key: text,
            total: z.union([z.number(), z.string()], 'a number, or an expression over parameters'),
          }),
          z.null(),
        ],
        '{key: step, total: n_batches}',
      )
      .optional(),
  },
  '{show: […], x: step, progress: {key: step, total: n_batches}, folders: […], patterns: {…}}',
);

const neededGroups = 'a list of group names, or a map from them to parameters: {prepare: [N]}';
const byParameters = z.record(z.string(), oneOrMore('a list of parameter names'), neededGroups);

/** `runs` or `[runs, filter]`. */
const groupNames = oneOrMore('the name of a group, or a list of them');

/** `prepare`, `[prepare, sft]`, `{prepare: [N]}` or `[sft, {prepare: N}]`. */
const NeedsText = z
  .union(
    [z.array(z.union([z.string(), byParameters], neededGroups), neededGroups), z.string(), byParameters],
    neededGroups,
  )
  .transform((said): NeededGroup[] =>
    Array.isArray(said) ? said.flatMap((each, index) => neededIn(each, [index])) : neededIn(said, []),
  );

function neededIn(said: string | Record<string, string[]>, at: KeyPath): NeededGroup[] {
  if (typeof said === 'string') return [{ group: said, by: [], at }];
  return Object.entries(said).map(([group, by]) => ({ group, by, at: [...at, group] }));
}

const MethodText = z.enum(['grid', 'random', 'lhs', 'sobol', 'bayes'], 'grid, random, lhs, sobol or bayes');

/** Entries of `include` and `exclude`. */
const EditsText = z.array(
  z.record(parameterName, scalar, 'a map from parameters to values'),
  'a list of maps from parameters to values',
);

const commandExample = 'a list of words, for example [python, train.py, "${args}"]';

/** Keys that may be at the top of a file, for all groups, and in a group, for itself. */
const shared = {
  program: text.optional(),
  command: words(commandExample).min(1, 'at least one word').optional(),
  cwd: text.optional(),
  code: z.enum(['snapshot', 'live'], 'snapshot or live').optional(),
  env: z.record(z.string(), word, 'a map from names to values').optional(),
  parameters: ParametersText.optional(),
  cases: z.array(ParametersText, 'a list of maps, each setting some parameters').min(1, 'at least one case').optional(),
  include: EditsText.optional(),
  exclude: EditsText.optional(),
  when: condition.optional(),
  method: MethodText.optional(),
  run_cap: z.int('a whole number').positive('at least 1').optional(),
  sample_seed: z.int('a whole number').optional(),
  extends: oneOrMore('a list of parameter names').optional(),
  resume_args: words('a list of words').optional(),
  stop_when: StopText.optional(),
  metric: MetricText.optional(),
  early_terminate: EarlyTerminateText.optional(),
  metrics: MetricsText.optional(),
  grace: GraceText.optional(),
  stdin: z.enum(['none', 'type'], 'none or type').optional(),
  terminal: z.boolean('true or false').optional(),
  timeout: TimeoutText.optional(),
  priority: PriorityText.optional(),
  retry: RetryText.optional(),
  breaker: BreakerText.optional(),
  start: StartText.optional(),
  done: DoneText.optional(),
  resources: ResourcesText.optional(),
  slurm: SlurmText.optional(),
};

export const GroupText = z.strictObject(
  {
    ...shared,
    title: text.optional(),
    subgroup: text.optional(),
    name: text.optional(),
    needs: NeedsText.optional(),
    for_each: groupNames.optional(),
    after_each: groupNames.optional(),
    optional: z.boolean('true or false').optional(),
  },
  'a map of keys such as `parameters` and `name`',
);
export type GroupText = z.infer<typeof GroupText>;

const aFile = 'a map of keys such as `command` and `parameters`';
export const SweepText = z.strictObject(
  {
    ...shared,
    name: Name.optional(),
    description: text.optional(),
    notify: NotifyText.optional(),
    executor: ExecutorName.optional(),
    groups: z
      .record(
        Name,
        z.preprocess((group) => group ?? {}, GroupText),
        'a map from group names to groups',
      )
      .optional(),
  },
  aFile,
);
export type SweepText = z.infer<typeof SweepText>;

/** A W&B sweep file: the same keys, those that only W&B's server uses, and a name that need not be a folder's. */
export const WandbText = z.strictObject(
  {
    ...SweepText.omit({ groups: true }).shape,
    name: text.optional(),
    project: text.optional(),
    entity: text.optional(),
    apiVersion: z.unknown().optional(),
    kind: z.unknown().optional(),
    controller: z.unknown().optional(),
  },
  aFile,
);
export type WandbText = z.infer<typeof WandbText>;

export const sweepKeys: readonly string[] = Object.keys(SweepText.shape);
export const wandbKeys: readonly string[] = Object.keys(WandbText.shape);
export const groupKeys: readonly string[] = Object.keys(GroupText.shape);
/** Schemas of the keys that `--set` may set besides parameters. */
export const sharedShape = shared;
