/**
 * A number rounded to some decimals as Python's `round` does it: by its exact binary value, and halves to the even
 * digit. The tables of small-rl are rounded so.
 */
export function roundedAsPython(value: number, decimals: number): number {
  // A half of the last decimal is a binary number only if it is a multiple of 2^-(decimals + 1), and then this is exact.
  const isHalf = Number.isInteger(value * 2 ** (decimals + 1)) && Math.abs((value * 2 * 10 ** decimals) % 2) === 1;
  const rounded = Number(value.toFixed(decimals));
  if (!isHalf) return rounded;
  const down = Math.floor(value * 10 ** decimals);
  return (down % 2 === 0 ? down : down + 1) / 10 ** decimals;
}
