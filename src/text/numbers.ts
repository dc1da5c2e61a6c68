/** What stands where there is nothing to show. */
export const NOTHING = '–';

/** A count with its thousands apart: `10,820`; half counts (medians of an even number) keep one digit. */
export function countText(value: number | null): string {
  if (value === null) return NOTHING;
  if (!Number.isFinite(value)) return '∞';
  return value.toLocaleString('en-US', { maximumFractionDigits: 1 });
}

/** For a report: three significant digits, without an exponent where that stays short: `0.00092`, `7.68`, `1.2e-7`. */
export function shortNumber(value: number | null, digits = 3): string {
  if (value === null || Number.isNaN(value)) return NOTHING;
  if (!Number.isFinite(value)) return value > 0 ? '∞' : '-∞';
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-5 || size >= 1e7)) return value.toExponential(digits - 1).replace('e+', 'e');
  if (Number.isInteger(value)) return String(value);
  const decimals = Math.max(0, digits - 1 - Math.floor(Math.log10(size)));
  return value.toFixed(Math.min(decimals, 100));
}

/** For a column of a screen: at most eight characters, with four digits that count: `9.310`, `0.0312`, `1.2e-5`, `20000`, `3.400M`, `NaN`. */
export function narrowNumber(value: number): string {
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

/** `1 run`, `3 runs`. */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
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

/** Memory that changes while one looks at it, always with one decimal: `11.1 GiB`, `80.0 GiB`; below one, `512 MiB`. */
export function memoryReading(mebibytes: number): string {
  return mebibytes < 1000 ? `${Math.round(mebibytes)} MiB` : `${(mebibytes / 1024).toFixed(1)} GiB`;
}

/** The same in at most five columns: `512M`, `11.1G`, `141G`. */
export function narrowMemory(mebibytes: number): string {
  if (mebibytes < 1000) return `${Math.round(mebibytes)}M`;
  return `${(mebibytes / 1024).toFixed(mebibytes < 102_400 ? 1 : 0)}G`;
}
