/** Names so that each comes after those it needs, or a ring of names that need each other (`a`, `b`, `a`). */
export type DependencyOrder = { kind: 'order'; names: readonly string[] } | { kind: 'cycle'; ring: readonly string[] };

/**
 * Depth first, in the order given, so that names that need nothing keep their order.
 *
 * @param needs Needed names that are not keys are passed over; who wants them known checks that elsewhere.
 */
export function dependencyOrder(needs: ReadonlyMap<string, readonly string[]>): DependencyOrder {
  const names: string[] = [];
  const finished = new Set<string>();
  for (const name of needs.keys()) {
    const ring = place(name, { needs, names, finished, above: [] });
    if (ring) return { kind: 'cycle', ring };
  }
  return { kind: 'order', names };
}

type Walk = {
  needs: ReadonlyMap<string, readonly string[]>;
  names: string[];
  finished: Set<string>;
  above: readonly string[];
};

function place(name: string, walk: Walk): readonly string[] | null {
  if (walk.finished.has(name) || !walk.needs.has(name)) return null;
  const seen = walk.above.indexOf(name);
  if (seen >= 0) return [...walk.above.slice(seen), name];
  for (const needed of walk.needs.get(name)!) {
    const ring = place(needed, { ...walk, above: [...walk.above, name] });
    if (ring) return ring;
  }
  walk.finished.add(name);
  walk.names.push(name);
  return null;
}
