import * as z from 'zod';
import { type Ailment, ailments, formerHealths } from '../../base/run-words.js';

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
