import { groupBy } from '../../../base/group-by.js';
import { cleanText } from '../../../text/display-text.js';
import type { RunSummary } from '../../state/port.js';
import type { Branch, RunNode, TreeNode } from './branch-index.js';
import { inOrder, type Level } from './grouping-level.js';
import { tally } from '../tally.js';

/** How the runs of one group are divided further. */
type BranchPlan = {
  readonly key: string;
  readonly label: string;
  readonly title: string | null;
  readonly isFailure: boolean;
  /** The group has no row of its own: what hangs on it stands at the left edge. */
  readonly isFlat: boolean;
  /** `setting`: runs that differ in the seed alone, as the sweep file has them; null: no further division. */
  readonly second: Level | 'setting' | null;
  readonly metric: string | null;
};

/**
 * A group with all that hangs on it. `runs`: in the order of the list, at least one. `before`: the group in the last tree,
 * made by the same plan; what has not changed is taken over from it.
 */
export function groupBranch(plan: BranchPlan, runs: readonly RunSummary[], before: Branch | undefined): Branch {
  const { key, label, title, isFailure, metric } = plan;
  const known = before === undefined ? [] : (hanging.get(before)?.latest ?? []);
  const children = new Children(known, (from) => childrenOf(plan, runs, from));
  const branch: Branch = {
    ...{ kind: 'group', key, depth: 0, parent: null, label, title, isFailure, runs, tally: tally(runs, metric) },
    get children() {
      return children.nodes;
    },
  };
  hanging.set(branch, children);
  return branch;
}

/** What hangs on a group, made when it is first asked for: most groups of a large sweep are folded. */
class Children {
  #nodes: readonly TreeNode[];
  #make: ((known: readonly TreeNode[]) => readonly TreeNode[]) | null;

  /** `known`: those of an earlier tree. */
  constructor(known: readonly TreeNode[], make: (known: readonly TreeNode[]) => readonly TreeNode[]) {
    this.#nodes = known;
    this.#make = make;
  }

  get nodes(): readonly TreeNode[] {
    if (this.#make !== null) this.#nodes = this.#make(this.#nodes);
    this.#make = null;
    return this.#nodes;
  }

  /** Those that were made last, be it for an earlier tree. */
  get latest(): readonly TreeNode[] {
    return this.#nodes;
  }
}

const hanging = new WeakMap<Branch, Children>();

type Known = readonly TreeNode[];

function childrenOf(plan: BranchPlan, runs: readonly RunSummary[], known: Known): readonly TreeNode[] {
  const { key, second } = plan;
  if (second === null) return runNodes(runs, { key, depth: plan.isFlat ? 0 : 1, isNamed: false }, known);
  return second === 'setting' ? bySetting(plan, runs, known) : byLevel(plan, second, runs, known);
}

/** The settings in the order of their first runs; one that has a single run needs no heading. */
function bySetting(plan: BranchPlan, runs: readonly RunSummary[], known: Known): TreeNode[] {
  const parent = { key: plan.key, depth: 1, isNamed: false };
  const nodes: TreeNode[] = [];
  for (const [name, seeds] of groupBy(runs, ({ subgroup }) => subgroup ?? '')) {
    // Nearly always the settings are those of the last tree, in their order.
    const last = known[nodes.length];
    if (name === '') nodes.push(...runNodes(seeds, parent, known));
    else if (seeds.length === 1) nodes.push(...runNodes(seeds, parent, isLoneSeed(last, name) ? [last] : []));
    else
      nodes.push(
        subgroupBranch(plan, { name, label: () => cleanText(name), isNamed: true, isFailure: false }, seeds, last),
      );
  }
  return nodes;
}

/** Whether a node is that of a setting's only run. */
function isLoneSeed(node: TreeNode | undefined, setting: string): node is RunNode {
  return node?.kind === 'run' && node.run.subgroup === setting;
}

function byLevel(plan: BranchPlan, level: Level, runs: readonly RunSummary[], known: Known): TreeNode[] {
  const parts = groupBy(runs, level.keyOf);
  return inOrder(parts, level).map((name, index) =>
    subgroupBranch(
      plan,
      { name, label: () => level.labelOf(name), isNamed: false, isFailure: level.isFailure(name) },
      parts.get(name)!,
      known[index],
    ),
  );
}

/** `isNamed`: its runs' names begin with what the heading says, so that this is left out below it. */
type Heading = {
  readonly name: string;
  readonly label: () => string;
  readonly isNamed: boolean;
  readonly isFailure: boolean;
};

/** `last`: what was in its place in the last tree. */
function subgroupBranch(
  plan: BranchPlan,
  { name, label, isNamed, isFailure }: Heading,
  runs: readonly RunSummary[],
  last: TreeNode | undefined,
): Branch {
  const known = last?.kind === 'subgroup' && isKey(last.key, plan.key, name) ? last : null;
  if (known === null) {
    const key = `${plan.key}/${name}`;
    const children = runNodes(runs, { key, depth: 2, isNamed }, []);
    const [parent, tallied] = [plan.key, tally(runs, plan.metric)];
    const heading = { label: label(), title: null, isFailure };
    return { kind: 'subgroup', key, depth: 1, parent, ...heading, runs, tally: tallied, children };
  }
  if (areSame(known.runs, runs)) return known;
  const children = runNodes(runs, { key: known.key, depth: 2, isNamed }, known.children);
  return { ...known, runs, tally: tally(runs, plan.metric), children };
}

/** Whether a key is that of the subgroup of this name; asked so often that it is not put together for it. */
function isKey(key: string, parent: string, name: string): boolean {
  return key.length === parent.length + 1 + name.length && key.endsWith(name);
}

type Parent = { readonly key: string; readonly depth: number; readonly isNamed: boolean };

/** Nodes of runs that have not changed are taken over, and so are labels while the same runs hang there. */
function runNodes(runs: readonly RunSummary[], parent: Parent, known: Known): readonly RunNode[] {
  if (haveSameRuns(known, runs)) return runs.map((run, index) => withRun(known[index]!, run));
  const shared = sharedPrefix(runs.map(({ name }) => name));
  const cut = parent.isNamed ? shared : 0;
  return runs.map((run) => ({
    kind: 'run',
    key: run.id,
    depth: parent.depth,
    parent: parent.key,
    label: run.name.slice(cut),
    shared: shared - cut,
    run,
  }));
}

/** Not spread: with thousands of runs that is most of the work. */
function withRun(node: RunNode, run: RunSummary): RunNode {
  if (node.run === run) return node;
  const { kind, key, depth, parent, label, shared } = node;
  return { kind, key, depth, parent, label, shared, run };
}

function haveSameRuns(nodes: readonly TreeNode[], runs: readonly RunSummary[]): nodes is readonly RunNode[] {
  if (nodes.length !== runs.length) return false;
  for (let index = 0; index < runs.length; index++) if (nodes[index]!.key !== runs[index]!.id) return false;
  return true;
}

function areSame(a: readonly RunSummary[], b: readonly RunSummary[]): boolean {
  return a.length === b.length && a.every((run, index) => run === b[index]);
}

/** Length of what all names begin with, up to a separator; 0 if something would be left without a name. */
function sharedPrefix(names: readonly string[]): number {
  const first = names[0] ?? '';
  const shared = names.reduce((length, name) => {
    let same = 0;
    while (same < length && name[same] === first[same]) same++;
    return same;
  }, first.length);
  const separator = Math.max(...['_', '-', '.', '=', ','].map((character) => first.lastIndexOf(character, shared - 1)));
  const cut = shared === 0 ? 0 : separator + 1;
  return names.some((name) => name.length <= cut) ? 0 : cut;
}
