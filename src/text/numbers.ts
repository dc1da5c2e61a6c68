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

const units = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB'];

/** `1.4 GiB`. */
export function sizeText(bytes: number): string {
  const power = Math.min(units.length - 1, bytes < 1 ? 0 : Math.floor(Math.log2(bytes) / 10));
  const value = bytes / 2 ** (10 * power);
  return `${power > 0 && value < 10 ? value.toFixed(1) : Math.round(value)} ${units[power]}`;
}

const MIB = 2 ** 20;
const mibPerUnit: Readonly<Record<string, number>> = { MB: 1e6, GB: 1e9, MIB: MIB, GIB: 2 ** 30 };

/** MiB of `20GB`, `800 MB`, `20GiB` or `800MiB`; null for any other text. A GB is 10^9 bytes, a GiB 2^30. */
export function parseMemory(text: string): number | null {
  const [, number, unit] = /^(\d+(?:\.\d+)?) ?([mg]i?b)$/i.exec(text) ?? [];
  return unit === undefined ? null : (Number(number) * mibPerUnit[unit.toUpperCase()]!) / MIB;
}

/** `20 GiB`, `800 MiB`. */
export function memoryText(mebibytes: number): string {
  const large = mebibytes >= 1024;
  return `${Number((large ? mebibytes / 1024 : mebibytes).toPrecision(3))} ${large ? 'GiB' : 'MiB'}`;
}
