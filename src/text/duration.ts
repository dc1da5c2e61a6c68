const units: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 };
const whole = /^(?:\d+(?:\.\d+)?[smhd])+$/;

/** The seconds in `90s`, `30m`, `2h`, `1.5d` or `1h30m`; null for any other text. */
export function parseDuration(text: string): number | null {
  if (!whole.test(text)) return null;
  const parts = [...text.matchAll(/([\d.]+)([smhd])/g)];
  return parts.reduce((sum, [, number, unit]) => sum + Number(number) * units[unit!]!, 0);
}

/**
 * `90s`, `30m`, `2h`, `1d`, `1h30m`: the shortest text that `parseDuration` reads as the same seconds. Fractions of a second stay.
 */
export function durationText(seconds: number): string {
  let rest = seconds;
  const parts = Object.entries(units)
    .reverse()
    .map(([unit, size]) => {
      const count = unit === 's' ? Number(rest.toPrecision(12)) : Math.floor(rest / size);
      rest -= count * size;
      return count === 0 ? '' : `${count}${unit}`;
    });
  return parts.join('') || '0s';
}

/** A length of time in words: `0.4 s`, `12 s`, `3 min 05 s`, `2 h 10 min`, `3 d 4 h`. */
export function durationWords(ms: number): string {
  const seconds = Math.max(0, ms) / 1000;
  if (seconds < 10) return `${(Math.floor(seconds * 10) / 10).toFixed(1)} s`;
  if (seconds < 60) return `${Math.floor(seconds)} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${twoDigits(Math.floor(seconds % 60))} s`;
  const hours = Math.floor(minutes / 60);
  if (hours < 24) return `${hours} h ${twoDigits(minutes % 60)} min`;
  return `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

/** A length of time that grows while it is shown, to the minute: `42 s`, `12 min`, `2 h 10 min`. */
export function roughDuration(ms: number): string {
  const minutes = Math.floor(ms / 60_000);
  if (minutes < 1) return `${Math.floor(Math.max(0, ms) / 1000)} s`;
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  return hours < 24 ? `${hours} h ${twoDigits(minutes % 60)} min` : `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

/** A time since the start, for the left edge of a line: `+0:00:07`, hours first. */
export function timeStamp(ms: number): string {
  const seconds = Math.floor(Math.max(0, ms) / 1000);
  return `+${Math.floor(seconds / 3600)}:${twoDigits(Math.floor(seconds / 60) % 60)}:${twoDigits(seconds % 60)}`;
}

/** A duration in at most six columns: `42s`, `3m12s`, `1h04m`, `2d03h`, `120d`. Negative durations count as 0. */
export function shortDuration(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  const [minutes, hours, days] = [Math.floor(seconds / 60), Math.floor(seconds / 3600), Math.floor(seconds / 86_400)];
  if (minutes === 0) return `${seconds}s`;
  if (hours === 0) return `${minutes}m${twoDigits(seconds % 60)}s`;
  if (days === 0) return `${hours}h${twoDigits(minutes % 60)}m`;
  return days < 100 ? `${days}d${twoDigits(hours % 24)}h` : `${days}d`;
}

/** Units of a range of time: the smallest one in which its end has at most two digits is used. */
const rangeUnits = [
  { unit: 's', seconds: 1 },
  { unit: 'm', seconds: 60 },
  { unit: 'h', seconds: 3600 },
  { unit: 'd', seconds: 86_400 },
];
const TWO_DIGITS = 100;
/** Below this ratio of its ends a range is shown as its middle; above the second ratio only its upper end is shown. */
const NEAR = 1.25;
const FAR = 8;

/**
 * An uncertain duration, with no more digits than are known: `4-9m`, `40s-5m`, `~5m` where both ends are near the middle, `<9m`
 * where it may be anything up to that. At most six columns. In seconds.
 */
export function durationRange({ low, middle, high }: { low: number; middle: number; high: number }): string {
  const of = rangeUnits.find((each) => high < TWO_DIGITS * each.seconds) ?? rangeUnits.at(-1)!;
  const [from, to] = [Math.round(low / of.seconds), Math.round(high / of.seconds)];
  if (to === 0) return `<1${of.unit}`;
  if (from === to || high <= NEAR * low) return `~${Number((middle / of.seconds).toPrecision(2))}${of.unit}`;
  if (high > FAR * low || low < 0.5) return `<${to}${of.unit}`;
  if (from > 0) return `${from}-${to}${of.unit}`;
  const smaller = rangeUnits.find((each) => low < TWO_DIGITS * each.seconds)!;
  return `${Math.round(low / smaller.seconds)}${smaller.unit}-${to}${of.unit}`;
}

/** A number with at least two digits: `07`. */
export function twoDigits(value: number): string {
  return String(value).padStart(2, '0');
}
