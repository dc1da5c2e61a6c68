import * as z from 'zod';
import { FailureClass } from '../../base/outcome.js';
import { parseDuration } from '../../text/duration.js';
import { parseMemory } from '../../text/numbers.js';
import { parseDatedTime, parseTimeOfDay } from '../../text/zoned-time.js';
import { type SlurmOptions, type StartRule, weekdays } from '../planned-run.js';
import { channelNames, notificationWord, notificationWords, writtenChannels } from '../policy/notify-channels.js';

/**
 * Schemas of the keys that set how runs are treated. They convert to seconds and MiB. Every schema's message states what is
 * expected, to follow "expected …".
 */
const aDuration = 'a time: seconds, or a text such as 90s, 30m, 2h, 1d';
const seconds = z.number('a number of seconds').nonnegative('a number of seconds, at least 0');
const durationText = z
  .string()
  .refine((text) => parseDuration(text) !== null, aDuration)
  .transform((text) => parseDuration(text)!);
const duration = z.union([seconds, durationText], aDuration);
export const someTime = z.union(
  [
    z.number().positive('a time above 0'),
    z
      .string()
      .refine((text) => (parseDuration(text) ?? 0) > 0, aDuration)
      .transform((text) => parseDuration(text)!),
  ],
  aDuration,
);

const aMemory = 'an amount of memory: MiB, or a text such as 20GB, 800MB, 20GiB, 800MiB';
export const MemoryText = z.union(
  [
    z.number().positive('more than 0'),
    z
      .string()
      .refine((text) => (parseMemory(text) ?? 0) > 0, aMemory)
      .transform((text) => parseMemory(text)!),
  ],
  aMemory,
);

const wholeFrom0 = z.int('a whole number').nonnegative('a whole number from 0 on');
const wholeFrom1 = z.int('a whole number').positive('a whole number from 1 on');

export const GraceText = duration;
/** Null cancels an inherited timeout. */
export const TimeoutText = z.union([someTime, z.null()], `${aDuration}, or null`);
export const PriorityText = z.int('a whole number; the higher starts first');

const failures = `one or more of ${FailureClass.options.join(', ')}`;
const failure = z.enum(FailureClass.options, failures);
export const RetryText = z.union(
  [
    wholeFrom0.transform((max) => ({ max })),
    z.strictObject({
      max: wholeFrom0,
      backoff: duration.optional(),
      on: z.union([z.array(failure, failures), failure.transform((one) => [one])], failures).optional(),
    }),
  ],
  'a number of retries, or {max: 3, backoff: 10s, on: [crash, oom]}',
);

const aTimeOfDay = "a time of day in quotes: '22:00'";
const timeOfDay = z.string(aTimeOfDay).refine((text) => parseTimeOfDay(text) !== null, aTimeOfDay);
const aStart = "a time of day in quotes, with a date or without: '22:00', '2026-12-01 22:00'";
export const StartAtText = z
  .string(aStart)
  .refine((text) => parseTimeOfDay(text) !== null || parseDatedTime(text) !== null, aStart);
const aWindow = "two different times of day in quotes: ['20:00', '08:00']";
const someDays = `one or more of ${weekdays.join(', ')}`;
const weekday = z.enum(weekdays, someDays);
const startExample = "{at: '22:00', after: 2h, between: ['20:00', '08:00'], days: [mon, fri], outside: pause} or null";

/** Null cancels an inherited start time. */
export const StartText = z.union(
  [
    z
      .strictObject({
        at: StartAtText.optional(),
        after: someTime.optional(),
        between: z
          .tuple([timeOfDay, timeOfDay], aWindow)
          .refine(([from, to]) => parseTimeOfDay(from) !== parseTimeOfDay(to), aWindow)
          .optional(),
        days: z
          .union([z.array(weekday, someDays).min(1, someDays), weekday.transform((one) => [one])], someDays)
          .optional(),
        outside: z.enum(['continue', 'pause'], 'continue or pause').optional(),
      } satisfies Record<Exclude<keyof StartRule, 'zone'>, z.ZodType>)
      .refine(
        ({ outside, between, days }) => outside === undefined || between !== undefined || days !== undefined,
        '`between` or `days` beside `outside`, as without them there is no outside',
      ),
    z.null(),
  ],
  startExample,
);

const option = z.string('a text').min(1, 'a text');
export const SlurmText = z.strictObject(
  {
    partition: option.optional(),
    account: option.optional(),
    qos: option.optional(),
    time: someTime.optional(),
    constraint: option.optional(),
    extra: z.array(z.string('an option of sbatch'), 'a list of options of sbatch, for example [--mem=32G]').optional(),
    mode: z.enum(['auto', 'jobs', 'packs'], 'auto, jobs or packs').optional(),
    workers: wholeFrom1.optional(),
  } satisfies Record<keyof SlurmOptions, z.ZodType>,
  '{partition: gpu, account: lab, qos: normal, time: 8h, constraint: a100, extra: [--mem=32G], mode: auto, workers: 8}',
);

export const BreakerText = z.union(
  [
    z.literal(false, 'false, or {failures: 3, within: 10}'),
    z.strictObject({ failures: wholeFrom1.optional(), within: someTime.optional() }),
  ],
  'false, or {failures: 3, within: 10}',
);

/** W&B expects the word `false`, not the boolean. */
const falseText = z.literal('false').transform((): false => false);

/** Only a Bayesian search uses `impute` and `impute_while_running`. */
export const MetricText = z.union(
  [
    z.strictObject({
      name: z.string('the key of a metric').min(1, 'the key of a metric'),
      goal: z.enum(['minimize', 'maximize'], 'minimize or maximize').optional(),
      target: z.number('a number').optional(),
      impute: z.enum(['latest', 'best', 'worst'], 'latest, best or worst').optional(),
      impute_while_running: z
        .union([z.enum(['latest', 'best', 'worst']), z.literal(false), falseText], 'latest, best, worst or false')
        .optional(),
    }),
    z.null(),
  ],
  '{name: loss, goal: minimize}',
);

const eta = z.number('a number above 1').gt(1, 'a number above 1').optional();
const rules = z.discriminatedUnion(
  'type',
  [
    z.strictObject({
      type: z.literal('hyperband'),
      min_iter: wholeFrom1.optional(),
      max_iter: wholeFrom1.optional(),
      s: wholeFrom1.optional(),
      eta,
      strict: z.boolean('true or false').optional(),
    }),
    z.strictObject({
      type: z.literal('asha'),
      min_iter: wholeFrom1.optional(),
      max_iter: wholeFrom1.optional(),
      eta,
    }),
    z.strictObject({
      type: z.literal('median'),
      min_iter: wholeFrom1.optional(),
      min_runs: wholeFrom1.optional(),
    }),
  ],
  {
    error: ({ code }) =>
      code === 'invalid_union' ? 'hyperband, asha or median' : '{type: hyperband, min_iter: 3, eta: 3} or null',
  },
);
export const EarlyTerminateText = z.union([rules, z.null()], '{type: hyperband, min_iter: 3, eta: 3} or null');

const news = `one or more of ${notificationWords.join(', ')}`;
const newsKind = notificationWord(news);
export const NotifyText = z.strictObject(
  {
    ...writtenChannels,
    on: z.union([z.array(newsKind, news), newsKind.transform((one) => [one])], news).optional(),
  },
  '{command: [notify-send], webhook: "https://…", on: [failed, finished]}',
);
export type NotifyText = z.infer<typeof NotifyText>;

/** Keys of the maps in this file, for "Did you mean …?". */
export const policyKeys: Readonly<Record<string, readonly string[]>> = {
  retry: ['max', 'backoff', 'on'],
  breaker: ['failures', 'within'],
  start: ['at', 'after', 'between', 'days', 'outside'],
  slurm: ['partition', 'account', 'qos', 'time', 'constraint', 'extra', 'mode', 'workers'],
  metric: ['name', 'goal', 'target', 'impute', 'impute_while_running'],
  early_terminate: ['type', 'min_iter', 'max_iter', 's', 'eta', 'strict', 'min_runs'],
  notify: [...channelNames, 'on'],
};
