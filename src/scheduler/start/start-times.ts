import * as z from 'zod';
import { dayAt, instantAt, weekdayOf } from '../../text/zoned-time.js';

/** Seconds since midnight, as the clock shows them. */
const timeOfDay = z.int().min(0).max(86_399);

/** When runs of a group may start, by the clocks of a time zone. An absent field sets no limit. */
export const StartTimes = z.object({
  zone: z.string(),
  /** A time of day, the next one after the launch; or an instant, Unix ms. */
  at: z.union([z.object({ time: timeOfDay }), z.object({ instant: z.number() })]).optional(),
  /** Time after the launch, ms. */
  afterMs: z.number().nonnegative().optional(),
  /** The window of each day in which runs are started; it may end on the next day. */
  between: z.tuple([timeOfDay, timeOfDay]).optional(),
  /** The days of the week on which such windows, or whole days, and the times of `at` count; 0 is Sunday. */
  days: z.array(z.int().min(0).max(6)).optional(),
  /** Runs are paused when their window ends, until the next one. */
  pauses: z.literal(true).optional(),
});
export type StartTimes = z.infer<typeof StartTimes>;

/** Whether runs may start. `until`: when they no longer may; null: they always may. Unix ms. */
type Opening = { isOpen: true; until: number | null } | { isOpen: false; opensAt: number };

/** Longest time between two windows, in days, one of which a change of the clocks may swallow. */
const MOST_DAYS = 15;

/** The first instant at which `at` and `after` let runs start. Unix ms. */
export function earliestStart({ zone, at, afterMs = 0, days }: StartTimes, launchedAt: number): number {
  const earliest = launchedAt + afterMs;
  if (at === undefined) return earliest;
  if ('instant' in at) return Math.max(at.instant, earliest);
  const today = dayAt(zone, earliest);
  for (let day = today; day <= today + MOST_DAYS; day++) {
    const instant = counts(days, day) ? instantAt(zone, day, at.time) : -Infinity;
    if (instant >= earliest) return instant;
  }
  return earliest;
}

/** Whether the window is open at an instant, and when that changes. `at` and `after` are left out. Unix ms. */
export function openingAt(times: StartTimes, now: number): Opening {
  if (times.between === undefined && isEveryDay(times)) return { isOpen: true, until: null };
  const today = dayAt(times.zone, now);
  for (let day = today - 1; day <= today + MOST_DAYS; day++) {
    const [from, to] = windowOf(times, day);
    // A change of the clocks may leave nothing of a window.
    if (to > now && from < to)
      return from > now ? { isOpen: false, opensAt: from } : { isOpen: true, until: endOf(times, day) };
  }
  return { isOpen: true, until: null };
}

/** The first instant from `now` on at which a run may start. `notBefore`: by `at` and `after`. Unix ms. */
export function nextStart(times: StartTimes, notBefore: number, now: number): number {
  const from = Math.max(notBefore, now);
  const opening = openingAt(times, from);
  return opening.isOpen ? from : opening.opensAt;
}

/** The window that begins on a date; empty where that day does not count. */
function windowOf({ zone, between, days }: StartTimes, day: number): [from: number, to: number] {
  if (!counts(days, day)) return [0, 0];
  const [from, to] = between ?? [0, 0];
  const isOvernight = to <= from;
  return [instantAt(zone, day, from), instantAt(zone, isOvernight ? day + 1 : day, to)];
}

/** When the window of a date ends, and those that follow without a gap. */
function endOf(times: StartTimes, first: number): number {
  let [, end] = windowOf(times, first);
  for (let day = first + 1; day <= first + MOST_DAYS; day++) {
    const [from, to] = windowOf(times, day);
    if (to > end && from <= end) end = to;
  }
  return end;
}

function isEveryDay({ days }: StartTimes): boolean {
  return days === undefined || new Set(days).size === 7;
}

function counts(days: StartTimes['days'], day: number): boolean {
  return days === undefined || days.includes(weekdayOf(day));
}
