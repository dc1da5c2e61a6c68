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
