import type { Branch } from './tree.js';

/** Groups and subgroups by key. Looks below a group only for what must be there: to look makes what hangs on it. */
export class BranchIndex {
  readonly #groups: readonly Branch[];

  constructor(groups: readonly Branch[]) {
    this.#groups = groups;
  }

  get(key: string): Branch | undefined {
    for (const group of this.#groups) {
      if (group.key === key) return group;
      if (!isBelow(key, group.key)) continue;
      const found = subgroups(group).find((branch) => branch.key === key);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  has(key: string): boolean {
    return this.get(key) !== undefined;
  }

  /** Each group, and after it its subgroups. */
  values(): Branch[] {
    return this.#groups.flatMap((group) => [group, ...subgroups(group)]);
  }
}

function isBelow(key: string, group: string): boolean {
  return key.length > group.length && key[group.length] === '/' && key.startsWith(group);
}

function subgroups({ children }: Branch): Branch[] {
  return children.filter((child) => child.kind !== 'run');
}
