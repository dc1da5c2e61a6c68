/**
 * Compares texts as a person does, numbers in them by their value: `N16` before `N64` before `N1024`.
 *
 * Written out because a thousand names are compared ten thousand times: `Intl.Collator` takes ten times as long.
 */
export function naturalOrder(a: string, b: string): number {
  let [i, j] = [0, 0];
  while (i < a.length && j < b.length) {
    const [endA, endB] = [digitsEnd(a, i), digitsEnd(b, j)];
    const difference =
      endA > i && endB > j ? numberOrder(a.slice(i, endA), b.slice(j, endB)) : a.charCodeAt(i) - b.charCodeAt(j);
    if (difference !== 0) return difference;
    [i, j] = endA > i && endB > j ? [endA, endB] : [i + 1, j + 1];
  }
  return a.length - i - (b.length - j) || textOrder(a, b);
}

/** Where the digits that begin at `from` end; `from` itself when there is none. */
function digitsEnd(text: string, from: number): number {
  let end = from;
  while (end < text.length && isDigit(text.charCodeAt(end))) end++;
  return end;
}

function isDigit(code: number): boolean {
  return code >= 48 && code <= 57;
}

/** By length without leading zeros, then digit by digit: exact for numbers of any length. */
function numberOrder(a: string, b: string): number {
  const [x, y] = [a.replace(/^0+(?=.)/, ''), b.replace(/^0+(?=.)/, '')];
  return x.length - y.length || textOrder(x, y);
}

/** By the codes of the characters. */
function textOrder(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
