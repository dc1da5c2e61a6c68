/** The items in lists of equal key, in the order of each key's first item. */
export function grouped<T>(items: readonly T[], keyOf: (item: T) => string): T[][] {
  const lists = new Map<string, T[]>();
  for (const item of items) {
    const key = keyOf(item);
    const list = lists.get(key);
    if (list === undefined) lists.set(key, [item]);
    else list.push(item);
  }
  return [...lists.values()];
}
