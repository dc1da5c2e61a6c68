import type { RunId, RunSummary, SweepSummary } from '../port.js';
import type { BranchIndex } from './branch-index.js';
import type { Tally } from './tally.js';
import { TreeGrower, type TreeOptions } from './tree-grower.js';

export type { TreeOptions } from './tree-grower.js';

export type RunNode = {
  readonly kind: 'run';
  readonly key: RunId;
  readonly depth: number;
  /** Key of the branch it hangs on. */
  readonly parent: string;
  /** The name without what the heading above already says. */
  readonly label: string;
  /** Length of what the labels of all its siblings begin with: where a label has to be cut, it is cut there. */
  readonly shared: number;
  readonly run: RunSummary;
};

/** A group, or a subgroup below one. */
export type Branch = {
  readonly kind: 'group' | 'subgroup';
  readonly key: string;
  readonly depth: number;
  /** Key of the group; null for a group itself. */
  readonly parent: string | null;
  readonly label: string;
  readonly title: string | null;
  /** In the order of the list. */
  readonly runs: readonly RunSummary[];
  readonly tally: Tally;
  readonly children: readonly TreeNode[];
};

export type TreeNode = Branch | RunNode;

export type Tree = {
  readonly groups: readonly Branch[];
  readonly branches: BranchIndex;
};

/** The tree of these runs, made at once. Groups left empty are not there. */
export function buildTree(runs: readonly RunSummary[], sweeps: readonly SweepSummary[], options: TreeOptions): Tree {
  return new TreeGrower().grow(runs, sweeps, options);
}

/** The rows of the list: every node whose ancestors are unfolded. */
export function flatten(tree: Tree, isFolded: (branch: Branch) => boolean): TreeNode[] {
  const rows: TreeNode[] = [];
  const walk = (node: TreeNode): void => {
    rows.push(node);
    if (node.kind !== 'run' && !isFolded(node)) node.children.forEach(walk);
  };
  tree.groups.forEach(walk);
  return rows;
}
