/** At most six columns: `42s`, `3m12s`, `1h04m`, `2d03h`, `120d`. Negative times count as none. */
export function duration(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  const [minutes, hours, days] = [Math.floor(seconds / 60), Math.floor(seconds / 3600), Math.floor(seconds / 86_400)];
  if (minutes === 0) return `${seconds}s`;
  if (hours === 0) return `${minutes}m${two(seconds % 60)}s`;
  if (days === 0) return `${hours}h${two(minutes % 60)}m`;
  return days < 100 ? `${days}d${two(hours % 24)}h` : `${days}d`;
}

function two(value: number): string {
  return String(value).padStart(2, '0');
}
