/** What belongs together, in the order of the first of each. */
export function groupBy<T>(items: Iterable<T>, keyOf: (item: T) => string): Map<string, T[]> {
  const buckets = new Map<string, T[]>();
  // Neighbours often belong together, and need not be looked up each.
  let [last, members]: [string | null, T[]] = [null, []];
  for (const item of items) {
    const key = keyOf(item);
    if (key !== last) {
      members = buckets.get(key) ?? [];
      if (members.length === 0) buckets.set(key, members);
      last = key;
    }
    members.push(item);
  }
  return buckets;
}

/** The items in lists of equal key, in the order of each key's first item. */
export function grouped<T>(items: readonly T[], keyOf: (item: T) => string): T[][] {
  return [...groupBy(items, keyOf).values()];
}
