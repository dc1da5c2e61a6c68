/**
 * How numbers are written, in the window, in reports and on pages alike. A number of any size keeps its width: beyond some digits
 * it has an exponent. What is not finite is `NaN`, `inf` and `-inf`; `∞` stands for a count that is never reached.
 */

/** Shown where there is no value. */
export const NOTHING = '–';

/** Counts from this size on are written with an exponent. */
const UNCOUNTABLE = 1e15;

/** A count with thousands separators: `10,820`; half counts (medians of an even number) keep one digit. */
export function countText(value: number | null): string {
  if (value === null) return NOTHING;
  if (!Number.isFinite(value)) return '∞';
  if (Math.abs(value) >= UNCOUNTABLE) return shortNumber(value);
  // The window counts with every frame, and a formatter of numbers is made anew for each call.
  if (Number.isInteger(value)) return String(value).replace(/\B(?=(\d{3})+$)/g, ',');
  return value.toLocaleString('en-US', { maximumFractionDigits: 1 });
}

/** A number in a report: three significant digits, without an exponent where that is short: `0.00092`, `7.68`, `1.2e-7`. */
export function shortNumber(value: number | null, digits = 3): string {
  if (value === null) return NOTHING;
  if (!Number.isFinite(value)) return notFiniteWord(value);
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-5 || size >= 1e7)) return withExponent(value, digits - 1);
  if (Number.isInteger(value)) return String(value);
  const decimals = Math.max(0, digits - 1 - Math.floor(Math.log10(size)));
  return value.toFixed(Math.min(decimals, 100));
}

/** A ratio of two numbers: `×0.1`, `×1230`, `×1.78e20`. */
export function factorText(factor: number): string {
  const rounded = Number(factor.toPrecision(3));
  const isPlain = Math.abs(rounded) >= 1e-5 && Math.abs(rounded) < 1e7;
  return `×${isPlain ? rounded : shortNumber(rounded)}`;
}

/**
 * A number in a column of a screen: at most eight characters, with four significant digits: `9.310`, `0.0312`, `1.2e-5`, `20000`,
 * `3.400M`, `NaN`.
 */
export function narrowNumber(value: number): string {
  if (!Number.isFinite(value)) return notFiniteWord(value);
  if (Number.isInteger(value) && Math.abs(value) < LETTERS_FROM) return String(value);
  // Rounded before the unit is chosen: 999,960 is `1.000M`, and not `1000k`.
  const rounded = Number(value.toPrecision(4));
  const size = Math.abs(rounded);
  if (size < 1e-3 || size >= EXPONENT_FROM) return withExponent(value, size < 1e-99 || size >= 9e99 ? 0 : 1);
  if (size < LETTERS_FROM) return rounded.toFixed(Math.min(4, Math.max(0, 3 - Math.floor(Math.log10(size)))));
  const [unit, letter] = unitOf(size);
  return `${(rounded / unit).toPrecision(4)}${letter}`;
}

/** Sizes from which numbers are written in thousands, millions and so on, and from which they have an exponent. */
const LETTERS_FROM = 100_000;
const EXPONENT_FROM = 1e12;

function unitOf(size: number): [unit: number, letter: string] {
  if (size >= 1e9) return [1e9, 'G'];
  return size >= 1e6 ? [1e6, 'M'] : [1e3, 'k'];
}

function notFiniteWord(value: number): string {
  return Number.isNaN(value) ? 'NaN' : value > 0 ? 'inf' : '-inf';
}

function withExponent(value: number, decimals: number): string {
  return value.toExponential(decimals).replace('e+', 'e');
}

/** An axis: the values at its two ends, and whether equal steps along it are equal factors. */
type AxisEnds = { readonly low: number; readonly high: number; readonly isLog: boolean };

/**
 * Formats the numbers beside an axis: all of one axis in the same way, with letters or with exponents.
 *
 * @param step Distance of two numbers, which sets the number of decimals. Null: three significant digits.
 */
export function axisNumbers({ low, high, isLog }: AxisEnds, step: number | null): (value: number) => string {
  if (isLog) return low >= 1e-3 && high < 1e6 ? letterNumber : powerNumber;
  const size = Math.max(Math.abs(low), Math.abs(high));
  if (size > 0 && (size < 1e-3 || size >= EXPONENT_FROM)) return (value) => inPowers(value, size, step);
  const [unit, letter] = size >= 10_000 ? unitOf(size) : [1, ''];
  return (value) => (value === 0 ? '0' : trimmedIf(unit > 1, withStep(value / unit, step && step / unit)) + letter);
}

/** `0.02`, `500`, `20k`. */
function letterNumber(value: number): string {
  return Math.abs(value) < 10_000 ? digits(value, 6) : `${digits(value / 1e3, 6)}k`;
}

/** `0.1`, `1`, `20`; `1e-6`, `2e12`. */
function powerNumber(value: number): string {
  const size = Math.abs(value);
  return size >= 0.0999 && size < 999
    ? digits(value, 6)
    : withExponent(Number(value.toPrecision(6)), 12).replace(/\.?0*e/, 'e');
}

/** Formats a number with the exponent of the largest one: `0.5e36`, `1.0e36`. */
function inPowers(value: number, largest: number, step: number | null): string {
  if (value === 0) return '0';
  const power = Math.floor(Math.log10(largest));
  const unit = 10 ** power;
  // The unit is too small to divide by without loss of precision.
  return unit < 1e-300 ? withExponent(value, 1) : `${withStep(value / unit, step && step / unit)}e${power}`;
}

function withStep(value: number, step: number | null): string {
  if (step === null) return digits(value, 3);
  return value.toFixed(Math.min(6, Math.max(0, -Math.floor(Math.log10(step) + 1e-9))));
}

function digits(value: number, count: number): string {
  return String(Number(value.toPrecision(count)));
}

function trimmedIf(isTrimmed: boolean, text: string): string {
  return isTrimmed && text.includes('.') ? text.replace(/\.?0+$/, '') : text;
}

/** `1 run`, `3 runs`. */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

/** `48 runs + 5 prerequisites`. @param prerequisites The number of those that are needed by others and were not asked for. */
export function countedRuns(total: number, prerequisites: number): string {
  const asked = counted(total - prerequisites, 'run');
  return prerequisites === 0 ? asked : `${asked} + ${counted(prerequisites, 'prerequisite')}`;
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

/** The MiB in `20GB`, `800 MB`, `20GiB` or `800MiB`; null for any other text. A GB is 10^9 bytes, a GiB 2^30. */
export function parseMemory(text: string): number | null {
  const [, number, unit] = /^(\d+(?:\.\d+)?) ?([mg]i?b)$/i.exec(text) ?? [];
  return unit === undefined ? null : (Number(number) * mibPerUnit[unit.toUpperCase()]!) / MIB;
}

/** `20 GiB`, `800 MiB`. */
export function memoryText(mebibytes: number): string {
  const large = mebibytes >= 1024;
  return `${Number((large ? mebibytes / 1024 : mebibytes).toPrecision(3))} ${large ? 'GiB' : 'MiB'}`;
}

/** Memory in use, always with one decimal so that its width is steady: `11.1 GiB`, `80.0 GiB`; below one GiB, `512 MiB`. */
export function memoryReading(mebibytes: number): string {
  return mebibytes < 1000 ? `${Math.round(mebibytes)} MiB` : `${(mebibytes / 1024).toFixed(1)} GiB`;
}

/** Memory in use in at most five columns: `512M`, `11.1G`, `141G`. */
export function narrowMemory(mebibytes: number): string {
  if (mebibytes < 1000) return `${Math.round(mebibytes)}M`;
  return `${(mebibytes / 1024).toFixed(mebibytes < 102_400 ? 1 : 0)}G`;
}

/** A probability of a test: `0.031`, `< 0.0001`. */
export function chanceText(p: number): string {
  return p < 0.0001 ? '< 0.0001' : p.toPrecision(2);
}
