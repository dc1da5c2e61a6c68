import { UserError } from '../../base/user-error.js';
import { earliestStart, nextStart } from '../../scheduler/start/start-times.js';
import type { PlannedRun } from '../../spec/planned-run.js';
import { startTimes } from '../../launch/demand.js';
import { parseDuration, shortDuration } from '../../text/duration.js';
import { clockText, datedText, instantOf, parseDatedTime, parseTimeOfDay } from '../../text/zoned-time.js';

/**
 * The instant that `--at` names, as a text that is unambiguous for ever: `2026-12-01 22:00:00+01:00`.
 *
 * @param now Unix ms. @param zone The time zone of who typed it. @throws {UserError} If it is no time, or has passed.
 */
export function startAtText(text: string, now: number, zone: string): string {
  const instant = instantIn(text, now, zone);
  if (instant === null) {
    throw new UserError(
      `--at cannot be "${text}".`,
      "Write a time of day, a date with one, or how long from now: `--at 22:00`, `--at '2026-12-01 22:00'`, `--at +2h`.",
    );
  }
  if (instant >= now) return datedText(zone, instant);
  throw new UserError(
    `--at ${text} has passed: it is ${datedText(zone, now)}.`,
    'Give a later time, or leave --at out to start at once.',
  );
}

function instantIn(text: string, now: number, zone: string): number | null {
  const [delay, time, dated] = [parseDuration(text.slice(1)), parseTimeOfDay(text), parseDatedTime(text)];
  // To a whole second, and not before what was typed.
  if (text.startsWith('+') && delay !== null) return Math.ceil((now + delay * 1000) / 1000) * 1000;
  if (time !== null) return earliestStart({ zone, at: { time } }, now);
  return dated === null ? null : instantOf(dated, zone);
}

/** When a run may start that is launched now, Unix ms; null: at once. */
export function plannedStart({ start }: Pick<PlannedRun, 'start'>, now: number): number | null {
  if (start === undefined) return null;
  const times = startTimes(start);
  const instant = nextStart(times, earliestStart(times, now), now);
  return instant > now ? instant : null;
}

/** `at 22:00, in 3h12m` */
export function startWords(instant: number, now: number, zone: string): string {
  return `at ${clockText(zone, instant, now)}, in ${shortDuration(instant - now)}`;
}
