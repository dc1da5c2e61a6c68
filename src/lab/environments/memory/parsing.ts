/**
 * The guess in a single-step response: strict, the whole stripped text must be digits; "007" is 7.
 * Python's `isdigit` also takes digits of other scripts; here only 0–9 count.
 *
 * @returns null when there is none, or it is not in [0, N).
 */
export function parseGuess(text: string, N: number): number | null {
  const stripped = text.trim();
  return /^[0-9]+$/.test(stripped) ? inRange(Number(stripped), N) : null;
}

/** The lenient reading of the first version of memory-rl: the first run of digits in the first line. */
export function parseGuessLeniently(text: string, N: number): number | null {
  const firstLine = text.trim().split('\n', 1)[0]!;
  const digits = /[0-9]+/.exec(firstLine);
  return digits === null ? null : inRange(Number(digits[0]), N);
}

/** The bit in a multi-step response: the first 0 or 1 anywhere in it, or null. */
export function parseBit(text: string): 0 | 1 | null {
  const bit = /[01]/.exec(text);
  return bit === null ? null : bit[0] === '1' ? 1 : 0;
}

function inRange(value: number, N: number): number | null {
  return value < N ? value : null;
}
