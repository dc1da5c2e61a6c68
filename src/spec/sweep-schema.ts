import { z } from 'zod';
import { Name } from '../base/ids.js';
import { Scalar } from '../base/scalar.js';
import { type Resources } from './planned-run.js';

/**
 * What a sweep file may say, block by block, as it is written; inheritance and defaults come later.
 *
 * Every schema's message says what is expected, as the end of "expected …". Unknown keys are refused: a misspelt key
 * would otherwise be a silent default.
 */
const text = z.string('a text');
const word = z.union([z.string(), z.number(), z.boolean()], 'a word').transform(String);
const words = (what: string) => z.array(word, what);
const oneOrMore = (what: string) => z.union([z.array(z.string(), what), z.string().transform((name) => [name])], what);

const scalar = z.union(Scalar.options, 'a number, a text, true, false or null');
const value = z.union([scalar, z.array(scalar)], 'a value');
const valueList = z.array(value, 'a list of values').min(1, 'at least one value, because an empty axis makes no runs');
const condition = z.union([z.string(), z.boolean().transform(String)], 'an expression, for example N > 16');

/** `{values: […]}`, `{value: x}` or `{expr: "…"}`, each with an optional `when`. */
const ParameterForm = z
  .strictObject({
    values: valueList.optional(),
    value: value.optional(),
    expr: z.string('an expression, for example (seed * 7) % N').optional(),
    when: condition.optional(),
  })
  .refine(
    (form) => [form.values, form.value, form.expr].filter((part) => part !== undefined).length === 1,
    'exactly one of `values`, `value` and `expr`',
  );

export const ParameterText = z.union(
  [scalar, valueList, ParameterForm],
  'a value, a list of values, {values: […]}, {value: …} or {expr: "…"}',
);
export type ParameterText = z.infer<typeof ParameterText>;

const parameterName = z
  .string()
  .regex(/^[A-Za-z_][A-Za-z0-9_.-]*$/, 'begin with a letter or _, and go on with letters, digits and _ . -');
const ParametersText = z.record(parameterName, ParameterText, 'a map from parameter names to values');

const StopText = z.union(
  [
    z.string(),
    z.strictObject({ when: z.string('an expression'), for: z.int('a whole number').positive('at least 1').optional() }),
    z.null(),
  ],
  'an expression over metrics, {when: "…", for: 3}, or null',
);

const DoneText = z.union(
  [
    z.strictObject({ exit: z.literal(0, '0, the only exit code that means success') }),
    z.strictObject({ file: text, where: text }),
  ],
  '{exit: 0} or {file: checkpoints.jsonl, where: \'name == "final"\'}',
);

const ResourcesText = z.strictObject(
  {
    gpus: z.union([z.int().nonnegative(), z.literal('auto')], '0, 1 or auto').optional(),
    per_gpu: z.int('a whole number').positive('at least 1').optional(),
    gpu_memory: z.number('a number of MiB').positive('more than 0').optional(),
    mps: z.enum(['auto', 'off'], 'auto or off').optional(),
    cpus: z.int('a whole number').positive('at least 1').optional(),
  } satisfies Record<keyof Resources, z.ZodType>,
  '{gpus: auto, per_gpu: 1, cpus: 1}',
);

const MetricsText = z.strictObject(
  {
    show: oneOrMore('a list of metric keys').optional(),
    x: text.optional(),
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
  '{show: […], x: step, progress: {key: step, total: n_batches}}',
);

const commandExample = 'a list of words, for example [python, train.py, "${args}"]';

/** Keys that may stand at the top of a file, for all groups, and in a group, for itself. */
const shared = {
  program: text.optional(),
  command: words(commandExample).min(1, 'at least one word').optional(),
  cwd: text.optional(),
  env: z.record(z.string(), word, 'a map from names to values').optional(),
  parameters: ParametersText.optional(),
  cases: z.array(ParametersText, 'a list of maps, each setting some parameters').min(1, 'at least one case').optional(),
  when: condition.optional(),
  extends: oneOrMore('a list of parameter names').optional(),
  resume_args: words('a list of words').optional(),
  stop_when: StopText.optional(),
  metrics: MetricsText.optional(),
  grace: z.number('a number of seconds').nonnegative('a number of seconds, at least 0').optional(),
  done: DoneText.optional(),
  resources: ResourcesText.optional(),
};

export const GroupText = z.strictObject(
  {
    ...shared,
    title: text.optional(),
    subgroup: text.optional(),
    name: text.optional(),
    needs: oneOrMore('a list of group names').optional(),
    optional: z.boolean('true or false').optional(),
  },
  'a map of keys such as `parameters` and `name`',
);
export type GroupText = z.infer<typeof GroupText>;

export const SweepText = z.strictObject(
  {
    ...shared,
    name: Name.optional(),
    description: text.optional(),
    groups: z
      .record(
        Name,
        z.preprocess((group) => group ?? {}, GroupText),
        'a map from group names to groups',
      )
      .optional(),
  },
  'a map of keys such as `command` and `parameters`',
);
export type SweepText = z.infer<typeof SweepText>;

export const sweepKeys: readonly string[] = Object.keys(SweepText.shape);
export const groupKeys: readonly string[] = Object.keys(GroupText.shape);
export const sharedKeys = Object.keys(shared) as (keyof typeof shared)[];
