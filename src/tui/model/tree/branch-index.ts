import type { Grouping } from '../../state/grouping.js';
import type { RunId, RunSummary } from '../../state/port.js';
import type { Sort } from '../../state/sort.js';
import type { Tally } from '../tally.js';

export type RunNode = {
  readonly kind: 'run';
  readonly key: RunId;
  readonly depth: number;
  /** Key of the parent branch. */
  readonly parent: string;
  /** The part of the name that distinguishes it from its siblings. */
  readonly label: string;
  /** Labels of all siblings including its own. A shortened label keeps what distinguishes it from these. */
  readonly among: readonly string[];
  readonly run: RunSummary;
};

/** A group, a subgroup of one, or a row of runs in either that wait for the same thing. */
export type Branch = {
  readonly kind: 'group' | 'subgroup' | 'waiting';
  readonly key: string;
  readonly depth: number;
  /** Key of the parent branch; null for a group. */
  readonly parent: string | null;
  readonly label: string;
  /** Labels of all siblings including its own, as for a run. */
  readonly among: readonly string[];
  readonly title: string | null;
  /** Whether these runs failed in the same way. */
  readonly isFailure: boolean;
  /** Runs in the order of the list. */
  readonly runs: readonly RunSummary[];
  readonly tally: Tally;
  readonly children: readonly TreeNode[];
};

export type TreeNode = Branch | RunNode;

export type Tree = {
  readonly groups: readonly Branch[];
  readonly branches: BranchIndex;
  /** Whether there is only one group, which has no row. */
  readonly isFlat: boolean;
};

/** The word for a kind of node in messages. */
export function kindWord({ kind }: TreeNode): string {
  return kind === 'waiting' ? 'row of waiting runs' : kind;
}

export type TreeOptions = {
  /** Which runs are shown. A different function is treated as a different filter. */
  readonly matches: (run: RunSummary) => boolean;
  /** Default: the grouping of the sweep file. */
  readonly grouping?: Grouping;
  /** Whether runs that wait for the same thing are folded into one row. */
  readonly foldsWaiting?: boolean;
  /** Whether names must be distinct in ASCII. */
  readonly isAscii?: boolean;
  readonly sort: Sort;
  readonly metric: string | null;
  /** Unix ms. */
  readonly now: number;
};

/** Branches by key. Descends only where a key can be, because reading the children of a branch creates them. */
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

  /** Each branch, followed by its descendants. */
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
