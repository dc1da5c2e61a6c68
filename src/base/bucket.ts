/** What belongs together, in the order of the first of each. */
export function bucket<T>(items: Iterable<T>, keyOf: (item: T) => string): Map<string, T[]> {
  const buckets = new Map<string, T[]>();
  for (const item of items) {
    const key = keyOf(item);
    const found = buckets.get(key);
    if (found === undefined) buckets.set(key, [item]);
    else found.push(item);
  }
  return buckets;
}
