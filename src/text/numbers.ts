/** What stands where there is nothing to show. */
export const NOTHING = '–';

/** A count with its thousands apart: `10,820`; half counts (medians of an even number) keep one digit. */
export function countText(value: number | null): string {
  if (value === null) return NOTHING;
  if (!Number.isFinite(value)) return '∞';
  return value.toLocaleString('en-US', { maximumFractionDigits: 1 });
}

/** Three significant digits, without an exponent where that stays short: `0.00092`, `7.68`, `1.2e-7`. */
export function shortNumber(value: number | null, digits = 3): string {
  if (value === null || Number.isNaN(value)) return NOTHING;
  if (!Number.isFinite(value)) return value > 0 ? '∞' : '-∞';
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-5 || size >= 1e7)) return value.toExponential(digits - 1).replace('e+', 'e');
  if (Number.isInteger(value)) return String(value);
  const decimals = Math.max(0, digits - 1 - Math.floor(Math.log10(size)));
  return value.toFixed(Math.min(decimals, 100));
}
