const units = ['B', 'kB', 'MB', 'GB', 'TB'];

/** `912 B`, `3.2 MB`: a size in decimal units, three digits at most. */
export function byteText(bytes: number): string {
  let [value, unit] = [bytes, 0];
  while (value >= 999.5 && unit < units.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return `${unit === 0 || value >= 99.5 ? Math.round(value) : value.toFixed(1)} ${units[unit]!}`;
}
