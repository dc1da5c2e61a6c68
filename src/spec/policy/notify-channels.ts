import * as z from 'zod';

/**
 * The ways in which people are told what happens: keys of `notify` in the sweep file. `written`: what the file may say, with
 * `${envvar:NAME}` in it; its message is the end of "expected …". `setting`: as the plan keeps it.
 * `accepts`: whether it makes sense with the variables filled in; `problem`: what is wrong where it does not, without what the
 * variables hold. How each is sent is told in `supervisor/notify/notifier.ts`.
 */
export const notifyChannels = {
  /** A program and its arguments; the message is on its stdin as JSON, and in words as the last argument. */
  command: {
    written: z.array(z.string(), 'a list of words').min(1, 'at least one word'),
    setting: z.array(z.string()).nonempty(),
    accepts: (filled: string | string[]) => Array.isArray(filled),
    problem: 'this is no list of words.',
  },
  /** Gets the message as a POST of JSON. */
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

/** One key for each channel, absent where it is not wanted: for the sweep file. */
export const writtenChannels = shapeOf(({ written }) => z.optional(written)) as {
  [Name in ChannelName]: z.ZodOptional<Channels[Name]['written']>;
};

/** One key for each channel, null where it is not wanted: for the plan. */
export const channelSettings = shapeOf(({ setting }) => z.nullable(setting).default(null)) as {
  [Name in ChannelName]: z.ZodDefault<z.ZodNullable<Channels[Name]['setting']>>;
};

function shapeOf(schemaOf: (channel: Channels[ChannelName]) => z.ZodType): Record<string, z.ZodType> {
  return Object.fromEntries(Object.entries(notifyChannels).map(([name, channel]) => [name, schemaOf(channel)]));
}

function isWebAddress(text: string): boolean {
  return /^https?:\/\//.test(text) && URL.canParse(text);
}
