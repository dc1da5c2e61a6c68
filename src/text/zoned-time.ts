/**
 * Wall clocks of time zones: which instant a date and a time of day are, and the other way round.
 *
 * Where clocks are put forward, a time that they skip stands for the first instant after the gap; where they are put back, a time
 * that they show twice stands for the first of the two. So every date has every time of day exactly once.
 */
import { twoDigits } from './duration.js';

export const DAY_MS = 86_400_000;

/** A time of day. `seconds`: since midnight by the clock. */
const timeOfDay = /^(\d{1,2}):(\d{2})(?::(\d{2}))?$/;

/** Seconds since midnight of `22:00` or `7:30:15`; null: the text is no time of day. */
export function parseTimeOfDay(text: string): number | null {
  const [, hours = '', minutes = '', seconds = '0'] = timeOfDay.exec(text) ?? [];
  if (hours === '' || Number(hours) > 23 || Number(minutes) > 59 || Number(seconds) > 59) return null;
  return Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds);
}

/** A date with a time of day. `day`: days since 1970-01-01. `offset`: seconds by which clocks are ahead of UTC; null: not given. */
type DatedTime = { day: number; seconds: number; offset: number | null };

/** Reads `2026-12-01 22:00`, also with the offset of its zone: `2026-12-01 22:00:00+01:00`; null: the text is no such time. */
export function parseDatedTime(text: string): DatedTime | null {
  const [, year = '', month = '', date = '', time = '', zone = ''] =
    /^(\d{4})-(\d{2})-(\d{2})[ T]([\d:]+)(Z|[+-]\d{2}:\d{2})?$/.exec(text) ?? [];
  const seconds = parseTimeOfDay(time);
  const day = dayOf({ year: Number(year), month: Number(month), date: Number(date) });
  // The 30th of February is none.
  if (seconds === null || dateText(day) !== `${year}-${month}-${date}`) return null;
  return { day, seconds, offset: zone === '' ? null : offsetIn(zone) };
}

function offsetIn(zone: string): number {
  if (zone === 'Z') return 0;
  const ahead = Number(zone.slice(1, 3)) * 3600 + Number(zone.slice(4)) * 60;
  return zone.startsWith('-') ? -ahead : ahead;
}

/** The instant of a dated time, Unix ms. `zone`: whose clock shows it, unless the time has an offset of its own. */
export function instantOf({ day, seconds, offset }: DatedTime, zone: string): number {
  return offset === null ? instantAt(zone, day, seconds) : day * DAY_MS + (seconds - offset) * 1000;
}

/** The instant at which the clocks of a zone show a time of day on a date, Unix ms. `day`: days since 1970-01-01. */
export function instantAt(zone: string, day: number, seconds: number): number {
  const local = day * DAY_MS + seconds * 1000;
  const [before, later] = [offsetAt(zone, local - DAY_MS), offsetAt(zone, local + DAY_MS)];
  const possible = [local - before, local - later].sort((a, b) => a - b);
  for (const instant of possible) if (instant + offsetAt(zone, instant) === local) return instant;
  return changeBetween(zone, possible[0]!, possible[1]!);
}

/** The instant in a span of time at which the clocks of a zone change. Unix ms. */
function changeBetween(zone: string, from: number, to: number): number {
  const old = offsetAt(zone, from);
  let [before, after] = [from, to];
  while (after - before > 1) {
    const middle = Math.floor((before + after) / 2);
    if (offsetAt(zone, middle) === old) before = middle;
    else after = middle;
  }
  return after;
}

/** The date that the clocks of a zone show, in days since 1970-01-01. */
export function dayAt(zone: string, instant: number): number {
  return shownAt(zone, instant).day;
}

/** The day of the week, 0 for Sunday. */
export function weekdayOf(day: number): number {
  return (((day + 4) % 7) + 7) % 7;
}

/** By how much the clocks of a zone are ahead of UTC, ms. */
function offsetAt(zone: string, instant: number): number {
  const whole = Math.floor(instant / 1000) * 1000;
  const shown: Partial<Record<Intl.DateTimeFormatPartTypes, string>> = {};
  for (const { type, value } of clockOf(zone).formatToParts(whole)) shown[type] = value;
  const { year, month, day, hour, minute, second } = shown;
  const days = dayOf({ year: Number(year), month: Number(month), date: Number(day) });
  return days * DAY_MS + (Number(hour) * 3600 + Number(minute) * 60 + Number(second)) * 1000 - whole;
}

/** Whether the name is one of a time zone: `Europe/Berlin`. */
export function isZone(timeZone: string): boolean {
  try {
    return new Intl.DateTimeFormat('en-US', { timeZone }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}

const clocks = new Map<string, Intl.DateTimeFormat>();

function clockOf(zone: string): Intl.DateTimeFormat {
  const known = clocks.get(zone);
  if (known !== undefined) return known;
  const made = clockFor(zone);
  clocks.set(zone, made);
  return made;
}

function clockFor(timeZone: string): Intl.DateTimeFormat {
  const parts: Intl.DateTimeFormatOptions = {
    ...({ year: 'numeric', month: 'numeric', day: 'numeric' } as const),
    ...({ hour: 'numeric', minute: 'numeric', second: 'numeric', hourCycle: 'h23' } as const),
  };
  try {
    return new Intl.DateTimeFormat('en-US', { ...parts, timeZone });
  } catch {
    // The zone comes from another machine, and this one does not know it.
    return new Intl.DateTimeFormat('en-US', { ...parts, timeZone: 'UTC' });
  }
}

type CalendarDate = { year: number; month: number; date: number };

/** Days from 1970-01-01 to a date. Years are counted from March on, so that the leap day is the last of its year. */
function dayOf({ year, month, date }: CalendarDate): number {
  const years = month > 2 ? year : year - 1;
  const months = (month + 9) % 12;
  const leaps = Math.floor(years / 4) - Math.floor(years / 100) + Math.floor(years / 400);
  return years * 365 + leaps + Math.floor((153 * months + 2) / 5) + date - 719_469;
}

function dateOf(day: number): CalendarDate {
  let year = Math.floor(day / 365.2425) + 1971;
  while (dayOf({ year, month: 1, date: 1 }) > day) year -= 1;
  let month = 12;
  while (dayOf({ year, month, date: 1 }) > day) month -= 1;
  return { year, month, date: day - dayOf({ year, month, date: 1 }) + 1 };
}

/** `2026-12-01` */
function dateText(day: number): string {
  const { year, month, date } = dateOf(day);
  return `${String(year).padStart(4, '0')}-${twoDigits(month)}-${twoDigits(date)}`;
}

/** The date and the seconds since midnight that the clocks of a zone show. */
function shownAt(zone: string, instant: number): { day: number; seconds: number } {
  const local = instant + offsetAt(zone, instant);
  const day = Math.floor(local / DAY_MS);
  return { day, seconds: Math.floor((local - day * DAY_MS) / 1000) };
}

/** `22:00`, with seconds where there are some. `seconds`: since midnight. */
export function timeOfDayText(seconds: number): string {
  const text = `${twoDigits(Math.floor(seconds / 3600))}:${twoDigits(Math.floor(seconds / 60) % 60)}`;
  return seconds % 60 === 0 ? text : `${text}:${twoDigits(seconds % 60)}`;
}

/** `2026-12-01 22:00:00+01:00`: a whole second as the clocks of a zone show it, with their offset, so that it is unambiguous. */
export function datedText(zone: string, instant: number): string {
  const offset = offsetAt(zone, instant) / 1000;
  const { day, seconds } = shownAt(zone, instant);
  const time = [seconds / 3600, (seconds / 60) % 60, seconds % 60].map((part) => twoDigits(Math.floor(part))).join(':');
  const minutes = Math.abs(Math.round(offset / 60));
  const sign = offset < 0 ? '-' : '+';
  return `${dateText(day)} ${time}${sign}${twoDigits(Math.floor(minutes / 60))}:${twoDigits(minutes % 60)}`;
}

const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/**
 * A future instant as the clocks of a zone show it, unambiguous for who reads it between `now` and then: `22:00`, or
 * `22:00 on 1 Dec` where it is more than a day away, with its year where that is another.
 */
export function clockText(zone: string, instant: number, now: number): string {
  const { day, seconds } = shownAt(zone, instant);
  const time = timeOfDayText(seconds);
  if (instant - now < DAY_MS) return time;
  const { year, month, date } = dateOf(day);
  const isThisYear = dateOf(dayAt(zone, now)).year === year;
  return `${time} on ${date} ${months[month - 1]!}${isThisYear ? '' : ` ${year}`}`;
}
