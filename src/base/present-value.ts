/**
 * The value that a metric has at its end: its last one, or the last number where NaN is between its numbers as a matter of course:
 * a reward that most batches have not. NaN where it has no number, or where no gap between its numbers was half as long as that at
 * its end: then it has become NaN. Undefined: there are no values.
 */
export function presentValue(values: ArrayLike<number>): number | undefined {
  const last = values[values.length - 1];
  if (last === undefined || !Number.isNaN(last)) return last;
  let at = values.length - 1;
  while (at >= 0 && Number.isNaN(values[at])) at -= 1;
  if (at < 0) return NaN;
  const tail = values.length - 1 - at;
  let first = 0;
  while (Number.isNaN(values[first])) first += 1;
  let gap = 0;
  for (let before = at; before > first; before--) {
    gap = Number.isNaN(values[before]) ? gap + 1 : 0;
    if (2 * gap >= tail) return values[at]!;
  }
  return NaN;
}
