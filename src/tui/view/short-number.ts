/** A number in at most eight columns, with four digits that count: `9.310`, `0.0312`, `1.2e-5`, `20000`, `3.400M`, `NaN`. */
export function shortNumber(value: number): string {
  const size = Math.abs(value);
  if (!Number.isFinite(value)) return special(value);
  if (size === 0) return '0';
  if (size < 1e-3 || size >= 1e12) return exponential(value, size);
  return size >= 100_000 ? large(value, size) : small(value, size);
}

function special(value: number): string {
  return Number.isNaN(value) ? 'NaN' : value > 0 ? 'inf' : '-inf';
}

function exponential(value: number, size: number): string {
  return value.toExponential(size < 1e-99 || size >= 9e99 ? 0 : 1).replace('e+', 'e');
}

function small(value: number, size: number): string {
  if (Number.isInteger(value)) return String(value);
  return value.toFixed(Math.min(4, Math.max(0, 3 - Math.floor(Math.log10(size)))));
}

function large(value: number, size: number): string {
  if (size >= 1e9) return `${(value / 1e9).toPrecision(4)}G`;
  return size >= 1e6 ? `${(value / 1e6).toPrecision(4)}M` : `${(value / 1e3).toPrecision(4)}k`;
}
