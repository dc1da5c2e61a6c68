import { inMetricOrder, type MetricsToShow } from '../../analysis/metric-order.js';
import type { RunSummary } from '../state/port.js';
import type { UiState } from '../state/ui-state.js';
import type { ListModel } from './list-model.js';
import { type Branch, branchesOn, type TreeNode } from './tree/branch.js';

type Shown = Pick<ListModel, 'rows' | 'tree'>;

/** Maximum number of runs examined for the names of their metrics. */
const mostRuns = 64;

/**
 * Position of the selected row: the run or group itself, or the folded group that contains the run. If it is not in the list, its
 * last position. That position is tried first, as it seldom changes.
 */
export function rowOfSelection(
  { rows, tree }: Shown,
  { selected, index }: Pick<UiState, 'selected' | 'index'>,
): number {
  const last = Math.max(0, Math.min(index, rows.length - 1));
  if (selected === null || rows[index]?.key === selected) return last;
  const found = rows.findIndex(({ key }) => key === selected);
  if (found >= 0) return found;
  const holders = holdersOf(selected, tree);
  const folded = rows.findLastIndex((row) => row.kind !== 'run' && holders.has(row));
  return folded >= 0 ? folded : last;
}

/** The branches that contain a run, folded or not. */
function holdersOf(id: string, { groups }: ListModel['tree']): ReadonlySet<TreeNode> {
  const holds = ({ runs }: Branch): boolean => runs.some((run) => run.id === id);
  const found = new Set<TreeNode>();
  for (let at = groups.find(holds); at !== undefined; at = branchesOn(at).find(holds)) found.add(at);
  return found;
}

/** The runs of a group; for a run, those of its parent branch. */
export function familyOf(node: TreeNode | undefined, { tree }: ListModel): readonly RunSummary[] {
  const branch = node?.kind === 'run' ? tree.branches.get(node.parent) : node;
  return branch?.runs ?? [];
}

/** The top-level group that contains a node. */
export function groupOf(node: TreeNode | undefined, { tree }: ListModel): Branch | undefined {
  let branch = node?.kind === 'run' ? tree.branches.get(node.parent) : node;
  while (branch !== undefined && branch.parent !== null) branch = tree.branches.get(branch.parent);
  return branch;
}

/** The metrics that are shown of a run: those that its group or its sweep asks for, or else those that tell most of what is written. */
export function shownFor(run: RunSummary | undefined, { sweeps, shown }: ListModel): MetricsToShow {
  const sweep = sweeps.find(({ name }) => name === run?.sweep);
  const choice = sweep?.groups.find(({ name }) => name === run?.group)?.shown ?? sweep ?? { show: [], x: 'step' };
  return choice.show.length > 0 ? choice : { ...choice, show: shown };
}

/** Keys of the metrics that the sweeps show and the selection's runs have, in the order of `inMetricOrder`. */
export function metricsOf(node: TreeNode | undefined, listModel: ListModel): string[] {
  const show = listModel.sweeps.flatMap((sweep) => sweep.show);
  const runs = familyOf(node, listModel).slice(0, mostRuns);
  const keys = new Set([...show, ...runs.flatMap(({ metrics }) => Object.keys(metrics))]);
  const counting = new Set(runs.flatMap((run) => run.counting ?? []));
  const { x = 'step', judgedBy } = listModel.sweeps[0] ?? {};
  return inMetricOrder(keys, { show, x, judgedBy }, counting);
}

/** The first row to show so that `index` is on a page of `page` rows, moving as little as possible from `top`. */
export function scrollTo(index: number, top: number, page: number, count: number): number {
  const low = Math.max(0, index - page + 1);
  const high = Math.max(0, Math.min(index, count - page));
  return Math.max(low, Math.min(top, high));
}
