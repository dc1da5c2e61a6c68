import { type RunSummary } from './port.js';
import { type Scene } from './scene.js';
import { type Branch, type TreeNode } from './view/tree.js';

/** Runs looked at for the names of their metrics. */
const mostRuns = 64;

/** The runs of a group; of a run, those it hangs beside. */
export function familyOf(node: TreeNode | undefined, { tree }: Scene): readonly RunSummary[] {
  const branch = node?.kind === 'run' ? tree.branches.get(node.parent) : node;
  return branch?.runs ?? [];
}

/** The group at the top above a node. */
export function groupOf(node: TreeNode | undefined, { tree }: Scene): Branch | undefined {
  const branch = node?.kind === 'run' ? tree.branches.get(node.parent) : node;
  return branch === undefined || branch.parent === null ? branch : tree.branches.get(branch.parent);
}

/** Keys of the metrics the selection's runs have, those the sweep shows first in front. */
export function metricsOf(node: TreeNode | undefined, scene: Scene): string[] {
  const keys = new Set(scene.sweeps.flatMap(({ show }) => show));
  for (const { metrics } of familyOf(node, scene).slice(0, mostRuns))
    Object.keys(metrics).forEach((key) => keys.add(key));
  return [...keys];
}
