import { twoDigits } from '../../../../text/duration.js';
import { lazy } from '../../../../base/lazy.js';
import { multiples, ticks } from './ticks.js';

/** A mark on an axis of time, with its label. */
type LabelledTick = { readonly value: number; readonly label: string };

const minute = 60;
const hour = 3600;
const day = 86_400;
const roundSeconds = [
  ...[1, 2, 5, 10, 15, 30, minute, 2 * minute, 5 * minute, 10 * minute, 15 * minute, 30 * minute],
  ...[hour, 2 * hour, 3 * hour, 6 * hour, 12 * hour, day, 2 * day, 7 * day, 14 * day, 28 * day],
];

/** Round durations, `low` and `high` in seconds. */
export function secondTicks(low: number, high: number, most: number): LabelledTick[] {
  const step = roundStep(low, high, most);
  return (step === null ? ticks(low, high, most) : multiples(low, high, step, most)).map((value) => ({
    value,
    label: secondsLabel(value, step ?? 0.1),
  }));
}

/** Round times of day in the local time zone, `low` and `high` in Unix seconds. */
export function clockTicks(low: number, high: number, most: number): LabelledTick[] {
  const step = roundStep(low, high, most) ?? 1;
  // Marks are counted from local midnight, because a round local hour is not round in every time zone.
  const shift = -zoneOffset(low);
  return multiples(low - shift, high - shift, step, most).map((value) => ({
    value: value + shift,
    label: clockLabel(value + shift, step),
  }));
}

/** Null: less than a second, for which ordinary numbers suffice. */
function roundStep(low: number, high: number, most: number): number | null {
  if (!(high > low) || high - low < most) return null;
  return roundSeconds.find((step) => (high - low) / step <= most - 1) ?? Math.ceil((high - low) / most / day) * day;
}

function secondsLabel(value: number, step: number): string {
  const rounded = Math.abs(value);
  const sign = value < 0 ? '-' : '';
  if (rounded === 0) return '0';
  if (step >= day) return `${sign}${rounded / day}d`;
  if (step >= hour) return `${sign}${rounded / hour}h`;
  if (rounded >= hour)
    return `${sign}${Math.floor(rounded / hour)}h${twoDigits(Math.floor((rounded % hour) / minute))}m`;
  if (step >= minute) return `${sign}${rounded / minute}m`;
  if (rounded >= minute) return `${sign}${Math.floor(rounded / minute)}m${twoDigits(rounded % minute)}`;
  return `${sign}${Number(rounded.toPrecision(6))}s`;
}

function clockLabel(value: number, step: number): string {
  const { day: date, month, hour: hours, minute: minutes, second } = partsOf(value);
  if (step >= day) return `${date}.${month}.`;
  return step < minute ? `${hours}:${minutes}:${second}` : `${hours}:${minutes}`;
}

/** Seconds by which local time is ahead of UTC. */
function zoneOffset(value: number): number {
  const { hour: hours, minute: minutes, second } = partsOf(value);
  const ahead = Number(hours) * hour + Number(minutes) * minute + Number(second) - (Math.floor(value) % day);
  // Noon in Auckland is the evening before in UTC: offsets range from -12 to +14 hours.
  return ahead > 14 * hour ? ahead - day : ahead <= -12 * hour ? ahead + day : ahead;
}

const format = lazy(() => {
  const each = '2-digit';
  const parts = { day: each, month: each, hour: each, minute: each, second: each } as const;
  return new Intl.DateTimeFormat('en-GB', { ...parts, hourCycle: 'h23' });
});

/** Local date and time digits of Unix seconds. */
function partsOf(value: number): Record<'day' | 'month' | 'hour' | 'minute' | 'second', string> {
  const parts = new Map(
    format()
      .formatToParts(value * 1000)
      .map(({ type, value: digits }) => [type, digits]),
  );
  const part = (name: Intl.DateTimeFormatPartTypes): string => parts.get(name) ?? '';
  return { day: part('day'), month: part('month'), hour: part('hour'), minute: part('minute'), second: part('second') };
}

/** An exact duration: `1h02m03s`, `4.25s`. */
export function exactSeconds(value: number): string {
  const seconds = Math.abs(value);
  const sign = value < 0 ? '-' : '';
  if (seconds < minute) return `${sign}${Number(seconds.toFixed(2))}s`;
  const [hours, minutes] = [Math.floor(seconds / hour), Math.floor((seconds % hour) / minute)];
  return `${sign}${hours > 0 ? `${hours}h` : ''}${twoDigits(minutes)}m${twoDigits(Math.floor(seconds % minute))}s`;
}

/** Unix seconds as local time: `05.01. 12:30:07`. */
export function exactTime(value: number): string {
  return `${clockLabel(value, day)} ${clockLabel(value, 1)}`;
}
