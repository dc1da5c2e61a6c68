import * as z from 'zod';
import { type Ailment, ailments, formerHealths } from '../../base/run-words.js';

/**
 * What may be worth telling someone who is not looking. `failed`: a run failed for good. `done`: a run is done. `finished`: all
 * runs of the sweep have ended, or those that are left (held ones, say) cannot start by themselves. `held`: a group starts no
 * more runs. The others: something is wrong with a run that is up.
 */
export type NotificationKind = 'failed' | 'done' | 'finished' | 'held' | Ailment;

/** The words of `notify.on`. `unhealthy`: anything that may be wrong with a run that is up. */
export const notificationWords = ['failed', 'done', 'finished', 'held', 'unhealthy', ...ailments] as const;
type Word = (typeof notificationWords)[number];

/** What people are told of who name nothing. */
const defaults: readonly Word[] = ['failed', 'finished', 'held', 'unhealthy'];

type Former = keyof typeof formerHealths;
const former = Object.keys(formerHealths) as Former[];

/** One of them, in a sweep file or a plan; words of older versions are read as what is meant now. */
export function notificationWord(message?: string) {
  return z
    .enum([...notificationWords, ...former], message)
    .transform((word): Word => (former.includes(word as Former) ? formerHealths[word as Former] : (word as Word)));
}

/** Whether that is to be told. `on`: of the sweep file; absent: it does not say. */
export function isWanted(kind: NotificationKind, on: readonly Word[] = defaults): boolean {
  return on.includes(kind) || (on.includes('unhealthy') && ailments.some((ailment) => ailment === kind));
}
