const units: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 };
const whole = /^(?:\d+(?:\.\d+)?[smhd])+$/;

/** Seconds of `90s`, `30m`, `2h`, `1.5d` or `1h30m`; null for any other text. */
export function parseDuration(text: string): number | null {
  if (!whole.test(text)) return null;
  const parts = [...text.matchAll(/([\d.]+)([smhd])/g)];
  return parts.reduce((sum, [, number, unit]) => sum + Number(number) * units[unit!]!, 0);
}

/** `90s`, `30m`, `2h`, `1d`, `1h30m`: the shortest text that reads back as the same. Seconds below a minute as they are. */
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
  if (minutes < 60) return `${minutes} min ${two(Math.floor(seconds % 60))} s`;
  const hours = Math.floor(minutes / 60);
  if (hours < 24) return `${hours} h ${two(minutes % 60)} min`;
  return `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

/** A time since the start, for the left edge of a line: `+0:00:07`, hours first. */
export function timeStamp(ms: number): string {
  const seconds = Math.floor(Math.max(0, ms) / 1000);
  return `+${Math.floor(seconds / 3600)}:${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}`;
}

function two(value: number): string {
  return String(value).padStart(2, '0');
}
