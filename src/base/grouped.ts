import { groupBy } from './group-by.js';

/** The items in lists of equal key, in the order of each key's first item. */
export function grouped<T>(items: readonly T[], keyOf: (item: T) => string): T[][] {
  return [...groupBy(items, keyOf).values()];
}
