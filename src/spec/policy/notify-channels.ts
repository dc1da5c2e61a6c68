import * as z from 'zod';
import { type Ailment, ailments, formerHealths } from '../../base/run-words.js';

/**
 * The channels of notifications: keys of `notify` in the sweep file. `written`: the schema of the file's value, which may contain
 * `${envvar:NAME}`; its message follows "expected …". `setting`: the schema in the plan. `accepts`: whether a value is valid after
 * the variables are filled in; `problem`: what is wrong where it is not, without the variables' values.
 * `supervisor/notify/notifier.ts` sends them.
 */
export const notifyChannels = {
  /** A program and its arguments; it gets the message as JSON on stdin, and as a sentence in the last argument. */
  command: {
    written: z.array(z.string(), 'a list of words').min(1, 'at least one word'),
    setting: z.array(z.string()).nonempty(),
    accepts: (filled: string | string[]) => Array.isArray(filled),
    problem: 'this is no list of words.',
  },
  /** An address that gets the message as JSON by POST. */
  webhook: {
    written: z
      .string('a web address')
      .refine(
        (text) => text.includes('${') || isWebAddress(text),
        'a web address that begins with https:// or http://',
      ),
    setting: z.url(),
    accepts: (filled: string | string[]) => typeof filled === 'string' && isWebAddress(filled),
    problem: 'this is not a web address that begins with https:// or http://.',
  },
};

type Channels = typeof notifyChannels;
export type ChannelName = keyof Channels;
export type ChannelSetting<Name extends ChannelName> = z.infer<Channels[Name]['setting']>;

export const channelNames = Object.keys(notifyChannels) as ChannelName[];

/** One key for each channel, absent if it is not used: the sweep file's schema. */
export const writtenChannels = shapeOf(({ written }) => z.optional(written)) as {
  [Name in ChannelName]: z.ZodOptional<Channels[Name]['written']>;
};

/** One key for each channel, null if it is not used: the plan's schema. */
export const channelSettings = shapeOf(({ setting }) => z.nullable(setting).default(null)) as {
  [Name in ChannelName]: z.ZodDefault<z.ZodNullable<Channels[Name]['setting']>>;
};

function shapeOf(schemaOf: (channel: Channels[ChannelName]) => z.ZodType): Record<string, z.ZodType> {
  return Object.fromEntries(Object.entries(notifyChannels).map(([name, channel]) => [name, schemaOf(channel)]));
}

function isWebAddress(text: string): boolean {
  return /^https?:\/\//.test(text) && URL.canParse(text);
}

/**
 * Kinds of notifications. `failed`: a run failed for good. `done`: a run is done. `finished`: all runs of the sweep have ended, or
 * the rest (held ones, say) cannot start without a user. `held`: a group starts no more runs. The others: a running run is
 * unhealthy.
 */
export type NotificationKind = 'failed' | 'done' | 'finished' | 'held' | Ailment;

/** The words of `notify.on`. `unhealthy`: any problem of a running run. */
export const notificationWords = ['failed', 'done', 'finished', 'held', 'unhealthy', ...ailments] as const;
type Word = (typeof notificationWords)[number];

/** The default of `notify.on`. */
const defaults: readonly Word[] = ['failed', 'finished', 'held', 'unhealthy'];

type Former = keyof typeof formerHealths;
const former = Object.keys(formerHealths) as Former[];

/** A word in a sweep file or a plan; words of older versions are replaced by their present equivalents. */
export function notificationWord(message?: string) {
  return z
    .enum([...notificationWords, ...former], message)
    .transform((word): Word => (former.includes(word as Former) ? formerHealths[word as Former] : (word as Word)));
}

/** Whether a kind of notification is wanted. `on`: from the sweep file; absent: it has none. */
export function isWanted(kind: NotificationKind, on: readonly Word[] = defaults): boolean {
  return on.includes(kind) || (on.includes('unhealthy') && ailments.some((ailment) => ailment === kind));
}
