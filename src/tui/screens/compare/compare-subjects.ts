import type { Subject } from '../../state/compare-choice.js';
import type { RunId } from '../../state/port.js';
import { type Branch, type BranchIndex, runLabels, type RunNode, type TreeNode } from '../../model/tree/branch.js';
import { type KeyContext, type Pressed, refuse } from '../../keys/key-context.js';
import type { UiState } from '../../state/ui-state.js';

/** What the user has marked and selected, and the list. */
type SubjectSource = {
  readonly node: TreeNode | undefined;
  readonly groups: readonly Branch[];
  readonly branches: BranchIndex;
  readonly marks: ReadonlySet<RunId>;
  /** Key of the pinned baseline. */
  readonly baseline: string | null;
  /** Whether names must be distinct in ASCII. */
  readonly isAscii: boolean;
};

/**
 * What `c` compares: the marked runs; without marks the parts of the selected group, or the selection with the baseline. A string
 * says why there is nothing to compare, and what to do.
 */
export function chooseSubjects(source: SubjectSource): readonly Subject[] | string {
  if (source.marks.size > 0) {
    const marked = markedSubjects(source);
    return marked.length > 1 ? marked : 'One run is marked; mark another: space. Or pin one as the baseline: b.';
  }
  const { node } = source;
  if (node === undefined) return 'There is no run to compare.';
  const pinned = pinnedBeside(node, source);
  if (pinned !== null) return subjectsOf([pinned, node], source);
  if (node.kind === 'run') return 'Mark two runs or groups first: space. Or select a group.';
  const parts = partsOf(node);
  return parts.length > 1
    ? subjectsOf(parts, source)
    : `${node.label} has only one run; mark what to compare it with: space.`;
}

/** The baseline, unless it is the selection or one contains the other. */
function pinnedBeside(node: TreeNode, source: SubjectSource): TreeNode | null {
  const pinned = source.baseline === null ? null : nodeOf(source.baseline, source);
  return pinned === null || pinned.key === node.key || holds(node, pinned) || holds(pinned, node) ? null : pinned;
}

/** The baseline, the outermost groups with all runs marked, and the other marked runs individually. */
function markedSubjects(source: SubjectSource): readonly Subject[] {
  const { groups, marks } = source;
  const found: TreeNode[] = [];
  const walk = (node: TreeNode): void => {
    const areAll = runsOf(node).every(({ id }) => marks.has(id));
    if (areAll) found.push(node);
    else if (node.kind !== 'run') node.children.forEach(walk);
  };
  groups.forEach(walk);
  const [first] = found;
  const shown = withBaseline(found.length === 1 && first?.kind !== 'run' ? partsOf(first!) : found, source);
  const ids = new Set(shown.flatMap((node) => runsOf(node).map(({ id }) => id)));
  // Runs stay marked while the filter hides them.
  const hidden = [...marks].filter((id) => !ids.has(id));
  const own = subjectsOf(shown, source);
  return [...own, ...hidden.map((id): Subject => ({ key: id, label: id.slice(id.indexOf('/') + 1), ids: [id] }))];
}

function withBaseline(nodes: readonly TreeNode[], source: SubjectSource): readonly TreeNode[] {
  const pinned = source.baseline === null ? null : nodeOf(source.baseline, source);
  if (pinned === null) return nodes;
  const isThere = nodes.some((node) => node.key === pinned.key || holds(node, pinned) || holds(pinned, node));
  return isThere ? nodes : [pinned, ...nodes];
}

/** A group's settings, or its runs if it has none. Runs that have not begun are left out. */
function partsOf(branch: Branch): readonly TreeNode[] {
  const parts = branch.children.filter(({ kind }) => kind !== 'waiting');
  const [only] = parts;
  return parts.length === 1 && only?.kind === 'subgroup' ? partsOf(only) : parts;
}

/** Runs are labelled by what distinguishes them, unless there are groups among them. */
function subjectsOf(nodes: readonly TreeNode[], { isAscii }: SubjectSource): Subject[] {
  const runs = nodes.flatMap((node) => (node.kind === 'run' ? [node.run] : []));
  const names = runs.length === nodes.length ? runLabels(runs, { isAscii }) : null;
  return nodes.map((node, index) => ({
    key: node.key,
    label: names?.[index] ?? (node.kind === 'run' ? node.run.name : node.label),
    ids: runsOf(node).map(({ id }) => id),
  }));
}

function runsOf(node: TreeNode): readonly RunNode['run'][] {
  return node.kind === 'run' ? [node.run] : node.runs;
}

function holds(outer: TreeNode, inner: TreeNode): boolean {
  if (outer.kind === 'run') return false;
  const ids = new Set(outer.runs.map(({ id }) => id));
  return runsOf(inner).every(({ id }) => ids.has(id));
}

function nodeOf(key: string, { groups, branches }: SubjectSource): TreeNode | null {
  const branch = branches.get(key);
  if (branch !== undefined) return branch;
  for (const group of groups) {
    const run = runNode(group, key);
    if (run !== null) return run;
  }
  return null;
}

function runNode(branch: Branch, key: string): RunNode | null {
  for (const child of branch.children) {
    const found = child.kind === 'run' ? (child.key === key ? child : null) : runNode(child, key);
    if (found !== null) return found;
  }
  return null;
}

/** Opens the comparison with the cursor at the top. The pinned baseline applies wherever it is in the list. */
export function compareSelection(ui: UiState, at: KeyContext): Pressed {
  const { rows, index, groups, branches } = at;
  const { marks } = ui;
  const { isAscii, compare } = ui;
  const subjects = chooseSubjects({ node: rows[index], groups, branches, marks, baseline: compare.baseline, isAscii });
  if (typeof subjects === 'string') return refuse(ui, subjects);
  return { ui: { ...ui, screen: { kind: 'compare', subjects, at: 0, top: 0, left: 0 } } };
}

export function pinSelection(ui: UiState, at: KeyContext): Pressed {
  const node = at.rows[at.index];
  if (node === undefined) return refuse(ui, 'There is no run to pin.');
  return pin(ui, node.key, node.label, `${at.keyOf('compare')} compares with it.`);
}

/** Pins the baseline, or unpins it if it is the same. */
export function pin(ui: UiState, key: string, label: string, next: string): Pressed {
  const isPinned = key === ui.compare.baseline;
  const text = isPinned ? 'No baseline.' : `Baseline: ${label}; ${next}`;
  const compareChoice = { ...ui.compare, baseline: isPinned ? null : key };
  return { ui: { ...ui, compare: compareChoice, note: { text, tone: 'dim' } } };
}
