import type { Grouping } from '../../state/grouping.js';
import type { RunId, RunSummary } from '../../state/port.js';
import type { Sort } from '../../state/sort.js';
import type { Tally } from '../tally.js';

export type RunNode = {
  readonly kind: 'run';
  readonly key: RunId;
  readonly depth: number;
  /** Key of the branch it hangs on. */
  readonly parent: string;
  /** What of the name tells it from its siblings. */
  readonly label: string;
  /** The labels of all its siblings and its own: where a label has to be cut, what tells them apart is kept. */
  readonly among: readonly string[];
  readonly run: RunSummary;
};

/** A group, a subgroup below one, or runs in one of these that wait for the same thing. */
export type Branch = {
  readonly kind: 'group' | 'subgroup' | 'waiting';
  readonly key: string;
  readonly depth: number;
  /** Key of the branch it hangs on; null for a group. */
  readonly parent: string | null;
  readonly label: string;
  /** Of all its siblings and its own, as for a run. */
  readonly among: readonly string[];
  readonly title: string | null;
  /** Whether these are runs that failed in one way. */
  readonly isFailure: boolean;
  /** In the order of the list. */
  readonly runs: readonly RunSummary[];
  readonly tally: Tally;
  readonly children: readonly TreeNode[];
};

export type TreeNode = Branch | RunNode;

export type Tree = {
  readonly groups: readonly Branch[];
  readonly branches: BranchIndex;
  /** One list of runs: its only group has no row. */
  readonly isFlat: boolean;
};

/** How a person calls it. */
export function kindWord({ kind }: TreeNode): string {
  return kind === 'waiting' ? 'row of waiting runs' : kind;
}

export type TreeOptions = {
  /** Which runs are shown. Another function is another filter. */
  readonly matches: (run: RunSummary) => boolean;
  /** The sweep file's own when left out. */
  readonly grouping?: Grouping;
  /** Whether runs that wait for the same thing stand in one row. */
  readonly foldsWaiting?: boolean;
  /** Whether names have to differ in ASCII. */
  readonly isAscii?: boolean;
  readonly sort: Sort;
  readonly metric: string | null;
  /** Unix ms. */
  readonly now: number;
};

/** Branches by key. Looks below a group only for what must be there: to look makes what hangs on it. */
export class BranchIndex {
  readonly #groups: readonly Branch[];

  constructor(groups: readonly Branch[]) {
    this.#groups = groups;
  }

  get(key: string): Branch | undefined {
    return branchOf(key, this.#groups);
  }

  has(key: string): boolean {
    return this.get(key) !== undefined;
  }

  /** Each branch, and after it those on it. */
  values(): Branch[] {
    return this.#groups.flatMap(withBranches);
  }
}

function branchOf(key: string, branches: readonly Branch[]): Branch | undefined {
  for (const branch of branches) {
    if (branch.key === key) return branch;
    const found = isBelow(key, branch.key) ? branchOf(key, branchesOn(branch)) : undefined;
    if (found !== undefined) return found;
  }
  return undefined;
}

function withBranches(branch: Branch): Branch[] {
  return [branch, ...branchesOn(branch).flatMap(withBranches)];
}

function isBelow(key: string, group: string): boolean {
  return key.length > group.length && key[group.length] === '/' && key.startsWith(group);
}

export function branchesOn({ children }: Branch): Branch[] {
  return children.filter((child) => child.kind !== 'run');
}
