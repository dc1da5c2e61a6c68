import { parseGuess } from './parsing.js';

/**
 * Format of a number below N as an answer. `decimal` is the format of memory-rl. In `fixed_width` every answer has as
 * many digits as N − 1, so that no answer is a prefix of another. `gray` has that width, too, and the answers of n and
 * n + 1 differ by one in one digit: no carry changes several digits at once.
 */
export const answerFormats = ['decimal', 'fixed_width', 'gray'] as const;
export type AnswerFormat = (typeof answerFormats)[number];

/** Digits of an answer of fixed width. */
export function answerWidth(N: number): number {
  return String(Math.max(0, N - 1)).length;
}

/** @param value A whole number in [0, N). */
export function writeAnswer(value: number, N: number, format: AnswerFormat): string {
  if (format === 'decimal') return String(value);
  const padded = String(value).padStart(answerWidth(N), '0');
  return format === 'gray' ? grayOf(padded) : padded;
}

/**
 * The number in a response that holds nothing else; null when there is none, or it is not in [0, N). As in memory-rl,
 * `007` is 7 in `decimal`; the other formats take their own width only.
 */
export function readAnswer(text: string, N: number, format: AnswerFormat): number | null {
  if (format === 'decimal') return parseGuess(text, N);
  const digits = text.trim();
  return digits.length === answerWidth(N) ? parseGuess(plain(digits, format), N) : null;
}

/**
 * Probability of the next character when all numbers below N are equally likely: among the answers that begin with
 * `prefix`, the share that continues with `next`. `''` is the end of the answer.
 */
export function nextShare(prefix: string, next: string, N: number, format: AnswerFormat): number {
  const from = countBeginning(prefix, N, format);
  const value = readAnswer(prefix, N, format);
  const ends = value !== null && writeAnswer(value, N, format) === prefix;
  const to = next === '' ? Number(ends) : countBeginning(prefix + next, N, format);
  return from === 0 ? 0 : to / from;
}

/** Number of answers below N that begin with these digits. */
function countBeginning(prefix: string, N: number, format: AnswerFormat): number {
  if (prefix === '') return N;
  const width = answerWidth(N);
  const leading = Number(plain(prefix, format));
  const within = (digits: number) => {
    const [first, past] = [leading * 10 ** digits, (leading + 1) * 10 ** digits];
    return Math.max(0, Math.min(N, past) - first);
  };
  const open = width - prefix.length;
  if (open < 0) return 0;
  if (format !== 'decimal') return within(open);
  // Only the number 0 itself begins with a 0.
  if (prefix.startsWith('0')) return prefix === '0' ? 1 : 0;
  return Array.from({ length: open + 1 }, (_, digits) => within(digits)).reduce((sum, count) => sum + count, 0);
}

function plain(text: string, format: AnswerFormat): string {
  return format === 'gray' ? plainOf(text) : text;
}

/**
 * The reflected decimal Gray code: after an odd digit the next one counts down. Since ten is even, only the digit
 * before decides.
 */
function grayOf(digits: string): string {
  return [...digits].map((digit, at) => grayDigit(digit, digits[at - 1])).join('');
}

function plainOf(gray: string): string {
  let digits = '';
  // Other characters stay as they are; the parser then refuses the answer.
  for (const digit of gray) digits += /[0-9]/.test(digit) ? grayDigit(digit, digits.at(-1)) : digit;
  return digits;
}

function grayDigit(digit: string, before: string | undefined): string {
  return Number(before ?? 0) % 2 === 0 ? digit : String(9 - Number(digit));
}
