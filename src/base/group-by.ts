/** Groups items by key, in the order of each key's first item. */
export function groupBy<Item, Key>(items: Iterable<Item>, keyOf: (item: Item) => Key): Map<Key, Item[]> {
  const groups = new Map<Key, Item[]>();
  // Neighbours often have the same key; this saves their look-up.
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

/** Like `groupBy`, for items with several keys: an item is in the group of each of its keys. */
export function groupByEach<Item, Key>(items: Iterable<Item>, keysOf: (item: Item) => Iterable<Key>): Map<Key, Item[]> {
  const groups = new Map<Key, Item[]>();
  for (const item of items) for (const key of new Set(keysOf(item))) addTo(groups, key, item);
  return groups;
}

/** Adds an item to the group of a key, and creates the group where it is missing. */
export function addTo<Item, Key>(groups: Map<Key, Item[]>, key: Key, item: Item): void {
  const group = groups.get(key);
  if (group === undefined) groups.set(key, [item]);
  else group.push(item);
}

/** The items in lists of equal key, in the order of each key's first item. */
export function grouped<Item>(items: readonly Item[], keyOf: (item: Item) => string): Item[][] {
  return [...groupBy(items, keyOf).values()];
}
