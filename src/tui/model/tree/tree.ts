import type { RunSummary, SweepSummary } from '../../state/port.js';
import type { Branch, Tree, TreeNode, TreeOptions } from './branch-index.js';
import { TreeGrower } from './tree-grower.js';

export type { TreeOptions } from './branch-index.js';

/** Builds the tree of these runs at once. Empty groups are left out. */
export function buildTree(runs: readonly RunSummary[], sweeps: readonly SweepSummary[], options: TreeOptions): Tree {
  return new TreeGrower().grow(runs, sweeps, options);
}

/** The rows of the list: every node whose ancestors are unfolded. A flat list has only runs. */
export function flatten(tree: Tree, isFolded: (branch: Branch) => boolean): TreeNode[] {
  const rows: TreeNode[] = [];
  const walk = (node: TreeNode): void => {
    rows.push(node);
    if (node.kind !== 'run' && !isFolded(node)) node.children.forEach(walk);
  };
  const roots = tree.isFlat ? tree.groups.flatMap(({ children }) => children) : tree.groups;
  roots.forEach(walk);
  return rows;
}
