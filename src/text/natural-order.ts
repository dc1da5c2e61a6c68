/**
 * Compares texts with the numbers in them by value: `N16` before `N64` before `N1024`, `lr1e-3` before `lr0.01`.
 *
 * Not `Intl.Collator`, as that takes ten times as long and compares no decimals, and lists of a thousand names are sorted often.
 */
export function naturalOrder(a: string, b: string): number {
  let [i, j] = [0, 0];
  while (i < a.length && j < b.length) {
    const [endA, endB] = [numberEnd(a, i), numberEnd(b, j)];
    const difference =
      endA > i && endB > j ? numberOrder(a.slice(i, endA), b.slice(j, endB)) : a.charCodeAt(i) - b.charCodeAt(j);
    if (difference !== 0) return difference;
    [i, j] = endA > i && endB > j ? [endA, endB] : [i + 1, j + 1];
  }
  return a.length - i - (b.length - j) || textOrder(a, b);
}

/** The end of the number that begins at `from`, with its decimals and its exponent; `from` itself when there is none. */
function numberEnd(text: string, from: number): number {
  const whole = digitsEnd(text, from);
  if (whole === from) return from;
  const isPoint = text[whole] === '.' && isDigit(text.charCodeAt(whole + 1));
  return exponentEnd(text, isPoint ? digitsEnd(text, whole + 1) : whole);
}

/** The end of the exponent at `from`; `from` itself when there is none. Letters or digits behind it, as in `3e8f`, rule it out. */
function exponentEnd(text: string, from: number): number {
  if (text[from] !== 'e' && text[from] !== 'E') return from;
  const digits = text[from + 1] === '-' || text[from + 1] === '+' ? from + 2 : from + 1;
  const end = digitsEnd(text, digits);
  return end === digits || /[A-Za-z]/.test(text[end] ?? '') ? from : end;
}

function digitsEnd(text: string, from: number): number {
  let end = from;
  while (end < text.length && isDigit(text.charCodeAt(end))) end++;
  return end;
}

function isDigit(code: number): boolean {
  return code >= 48 && code <= 57;
}

/** Compares numbers by the place of the first significant digit, then digit by digit: exact for numbers of any length. */
function numberOrder(a: string, b: string): number {
  if (a === b) return 0;
  // A double tells any two numbers of so few digits apart, except beyond its range.
  const difference = a.length < 16 && b.length < 16 ? Number(a) - Number(b) : 0;
  if (difference !== 0 && Number.isFinite(difference)) return difference;
  const [x, y] = [digitsOf(a), digitsOf(b)];
  if (x.digits === '' || y.digits === '') return textOrder(x.digits, y.digits);
  return x.place - y.place || textOrder(x.digits, y.digits);
}

/** The significant digits, without zeros at either end, and the number of digits before the point; empty for zero. */
function digitsOf(number: string): { digits: string; place: number } {
  const [mantissa, exponent = '0'] = number.split(/e/i);
  const [whole, decimals = ''] = mantissa!.split('.');
  const digits = (whole! + decimals).replace(/^0+/, '');
  const zeros = whole!.length + decimals.length - digits.length;
  return { digits: digits.replace(/0+$/, ''), place: whole!.length - zeros + Number(exponent) };
}

/** Compares by UTF-16 code units. */
function textOrder(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
