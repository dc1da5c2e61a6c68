/** What belongs together, in the order of the first of each. */
export function groupBy<Item, Key>(items: Iterable<Item>, keyOf: (item: Item) => Key): Map<Key, Item[]> {
  const groups = new Map<Key, Item[]>();
  // Neighbours often belong together, and need not be looked up each.
  let last: { key: Key; members: Item[] } | null = null;
  for (const item of items) {
    const key = keyOf(item);
    if (last === null || key !== last.key) {
      const known = groups.get(key);
      last = { key, members: known ?? [] };
      if (known === undefined) groups.set(key, last.members);
    }
    last.members.push(item);
  }
  return groups;
}

/** As `groupBy`, where an item may have several keys; it stands once under each of them. */
export function groupByEach<Item, Key>(items: Iterable<Item>, keysOf: (item: Item) => Iterable<Key>): Map<Key, Item[]> {
  const groups = new Map<Key, Item[]>();
  for (const item of items) for (const key of new Set(keysOf(item))) addTo(groups, key, item);
  return groups;
}

/** Adds an item to the group of that key, which it may be the first of. */
export function addTo<Item, Key>(groups: Map<Key, Item[]>, key: Key, item: Item): void {
  const group = groups.get(key);
  if (group === undefined) groups.set(key, [item]);
  else group.push(item);
}

/** The items in lists of equal key, in the order of each key's first item. */
export function grouped<Item>(items: readonly Item[], keyOf: (item: Item) => string): Item[][] {
  return [...groupBy(items, keyOf).values()];
}
