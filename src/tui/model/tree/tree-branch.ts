import { groupBy } from '../../../base/group-by.js';
import { cleanText } from '../../../text/display-text.js';
import { countText } from '../../../text/numbers.js';
import type { RunSummary } from '../../state/port.js';
import { type Branch, runLabels, type RunNode, type TreeNode } from './branch.js';
import { inOrder, type Level } from './grouping-level.js';
import { tally } from '../tally.js';

/** How the runs of one group are divided further. */
type BranchPlan = {
  readonly key: string;
  readonly label: string;
  readonly among: readonly string[];
  readonly title: string | null;
  readonly isFailure: boolean;
  /** Whether the group has no row, so that its children are at the left edge. */
  readonly isFlat: boolean;
  /** The second level. `setting`: runs that differ only in the seed, as the sweep file defines them; null: none. */
  readonly second: Level | 'setting' | null;
  readonly foldsWaiting: boolean;
  /** Whether names must be distinct in ASCII. */
  readonly isAscii: boolean;
  readonly metric: string | null;
};

/**
 * A group with its children. `runs`: at least one, in the order of the list. `before`: the group in the last tree, made by the same
 * plan; unchanged parts are reused.
 */
export function groupBranch(plan: BranchPlan, runs: readonly RunSummary[], before: Branch | undefined): Branch {
  const { key, label, among, title, isFailure, metric } = plan;
  const known = before === undefined ? [] : (hanging.get(before)?.latest ?? []);
  const children = new Children(known, (from) => childrenOf(plan, runs, from));
  const branch: Branch = {
    ...{ kind: 'group', key, depth: 0, parent: null, label, among, title, isFailure, runs, tally: tally(runs, metric) },
    get children() {
      return children.nodes;
    },
  };
  hanging.set(branch, children);
  return branch;
}

/** Children of a group, created on first use, because most groups of a large sweep are folded. */
class Children {
  #nodes: readonly TreeNode[];
  #make: ((known: readonly TreeNode[]) => readonly TreeNode[]) | null;

  /** `known`: nodes of an earlier tree. */
  constructor(known: readonly TreeNode[], make: (known: readonly TreeNode[]) => readonly TreeNode[]) {
    this.#nodes = known;
    this.#make = make;
  }

  get nodes(): readonly TreeNode[] {
    if (this.#make !== null) this.#nodes = this.#make(this.#nodes);
    this.#make = null;
    return this.#nodes;
  }

  /** The most recently created nodes, possibly those of an earlier tree. */
  get latest(): readonly TreeNode[] {
    return this.#nodes;
  }
}

const hanging = new WeakMap<Branch, Children>();

type Known = readonly TreeNode[];

function childrenOf(plan: BranchPlan, runs: readonly RunSummary[], known: Known): readonly TreeNode[] {
  const { key, second, isAscii } = plan;
  // A user who groups by something wants to see all parts, so no rows are folded.
  if (second !== null && second !== 'setting') return byLevel(plan, second, runs, known);
  const whole = wholeOf.get(known) ?? known;
  const depth = plan.isFlat ? 0 : 1;
  const parent = { key, depth, isAscii };
  const nodes = second === null ? runNodes(runs, parent, whole) : bySetting(plan, runs, whole);
  return withWaiting(plan, parent, nodes, known);
}

/** Maps children with folded waiting rows to the same children without folding. */
const wholeOf = new WeakMap<Known, readonly TreeNode[]>();

/** Folds runs that wait for the same thing into one row each, below the others. */
function withWaiting(plan: BranchPlan, parent: Parent, nodes: readonly TreeNode[], known: Known): readonly TreeNode[] {
  if (!plan.foldsWaiting || plan.isFlat) return nodes;
  const waiting = waitingAmong(nodes);
  if (waiting.length === 0) return nodes;
  const hidden = new Set(waiting.flatMap((each) => each.nodes));
  const before = new Map(known.flatMap((node) => (node.kind === 'waiting' ? [[node.key, node]] : [])));
  const rows = waiting.map(({ what, runs }) => {
    const key = `${parent.key}/\0${what}`;
    return waitingBranch({ key, what, parent, metric: plan.metric }, runs, before.get(key));
  });
  const shown = [...nodes.filter((node) => !hidden.has(node)), ...rows];
  wholeOf.set(shown, nodes);
  return shown;
}

type WaitingPlan = {
  readonly key: string;
  readonly what: string;
  readonly parent: Parent;
  readonly metric: string | null;
};

function waitingBranch(plan: WaitingPlan, runs: readonly RunSummary[], before: Branch | undefined): Branch {
  if (before !== undefined && areSame(before.runs, runs)) return before;
  const { key, what, parent, metric } = plan;
  const [label, depth] = [`${countText(runs.length)} ${what}`, parent.depth];
  const known = before === undefined ? [] : (hanging.get(before)?.latest ?? []);
  const children = new Children(known, (from) => runNodes(runs, { ...parent, key, depth: depth + 1 }, from));
  const branch: Branch = {
    ...{ kind: 'waiting', key, depth, parent: parent.key, label, among: [label], title: null, isFailure: false, runs },
    tally: tally(runs, metric),
    get children() {
      return children.nodes;
    },
  };
  hanging.set(branch, children);
  return branch;
}

/** Settings in the order of their first runs; a run alone in its setting gets no heading. */
function bySetting(plan: BranchPlan, runs: readonly RunSummary[], known: Known): TreeNode[] {
  const settings = groupBy(runs, ({ subgroup }) => subgroup ?? '');
  const hasHeading = (name: string): boolean => name !== '' && settings.get(name)!.length > 1;
  const alone = [...settings].flatMap(([name, seeds]) => (hasHeading(name) ? [] : seeds));
  const before = known.filter(({ kind }) => kind === 'run');
  const among = sameIfEqual(labelsAmong(known), [...settings.keys()].filter(hasHeading).map(cleanText));
  const single = runNodes(alone, { key: plan.key, depth: 1, isAscii: plan.isAscii }, before);
  const nodes: TreeNode[] = [];
  let placed = 0;
  for (const [name, seeds] of settings) {
    // Settings and their order are nearly always those of the last tree.
    const last = known[nodes.length];
    if (hasHeading(name)) {
      const heading = { name, label: cleanText(name), among, isFailure: false };
      nodes.push(subgroupBranch(plan, heading, seeds, last));
    } else nodes.push(...single.slice(placed, (placed += seeds.length)));
  }
  return nodes;
}

function byLevel(plan: BranchPlan, level: Level, runs: readonly RunSummary[], known: Known): TreeNode[] {
  const parts = groupBy(runs, level.keyOf);
  const names = inOrder(parts, level);
  const among = sameIfEqual(labelsAmong(known), names.map(level.labelOf));
  return names.map((name, index) => {
    const heading = { name, label: among[index]!, among, isFailure: level.isFailure(name) };
    return subgroupBranch(plan, heading, parts.get(name)!, known[index]);
  });
}

type Heading = {
  readonly name: string;
  readonly label: string;
  readonly among: readonly string[];
  readonly isFailure: boolean;
};

function labelsAmong(known: Known): readonly string[] {
  return known.find(({ kind }) => kind !== 'run')?.among ?? [];
}

/** Returns the previous array if nothing has changed, so that what depends on it is not recomputed. */
export function sameIfEqual(before: readonly string[], now: readonly string[]): readonly string[] {
  return before.length === now.length && before.every((text, index) => text === now[index]) ? before : now;
}

/** `last`: the node at its position in the last tree. */
function subgroupBranch(
  plan: BranchPlan,
  { name, label, among, isFailure }: Heading,
  runs: readonly RunSummary[],
  last: TreeNode | undefined,
): Branch {
  const known = last?.kind === 'subgroup' && isKey(last.key, plan.key, name) ? last : null;
  if (known === null) {
    const key = `${plan.key}/${name}`;
    const own = { key, depth: 2, isAscii: plan.isAscii };
    const children = withWaiting(plan, own, runNodes(runs, own, []), []);
    const [parent, tallied] = [plan.key, tally(runs, plan.metric)];
    const heading = { label, among, title: null, isFailure };
    return { kind: 'subgroup', key, depth: 1, parent, ...heading, runs, tally: tallied, children };
  }
  if (areSame(known.runs, runs) && known.among === among) return known;
  const own = { key: known.key, depth: 2, isAscii: plan.isAscii };
  const whole = runNodes(runs, own, wholeOf.get(known.children) ?? known.children);
  const children = withWaiting(plan, own, whole, known.children);
  return { ...known, among, runs, tally: tally(runs, plan.metric), children };
}

/** Whether a key is that of the named subgroup. Compares without building the key, since it is called very often. */
function isKey(key: string, parent: string, name: string): boolean {
  return key.length === parent.length + 1 + name.length && key.endsWith(name);
}

/** The branch that contains runs, and how they are labelled there. */
type Parent = { readonly key: string; readonly depth: number; readonly isAscii: boolean };

/** Nodes for runs. Reuses nodes of unchanged runs, and labels while the set of runs is the same. */
function runNodes(runs: readonly RunSummary[], parent: Parent, known: Known): readonly RunNode[] {
  if (haveSameRuns(known, runs)) return runs.map((run, index) => withRun(known[index]!, run));
  const labels = runLabels(runs, parent);
  return runs.map((run, index) => ({
    kind: 'run',
    key: run.id,
    depth: parent.depth,
    parent: parent.key,
    label: labels[index]!,
    among: labels,
    run,
  }));
}

/** Copies fields one by one, because spreading dominated the time with thousands of runs. */
function withRun(node: RunNode, run: RunSummary): RunNode {
  if (node.run === run) return node;
  const { kind, key, depth, parent, label, among } = node;
  return { kind, key, depth, parent, label, among, run };
}

function haveSameRuns(nodes: readonly TreeNode[], runs: readonly RunSummary[]): nodes is readonly RunNode[] {
  if (nodes.length !== runs.length) return false;
  for (let index = 0; index < runs.length; index++) if (nodes[index]!.key !== runs[index]!.id) return false;
  return true;
}

function areSame(a: readonly RunSummary[], b: readonly RunSummary[]): boolean {
  return a.length === b.length && a.every((run, index) => run === b[index]);
}

/** Fewer waiting runs are shown individually. */
const leastWaiting = 4;

/** Runs that wait for the same thing, shown as one row. `nodes`: the rows that it replaces. */
type WaitingRuns = {
  /** `waiting for warmup`, `held: 3 runs in a row failed`. */
  readonly what: string;
  readonly runs: readonly RunSummary[];
  readonly nodes: readonly TreeNode[];
};

/** Waiting runs and groups of which nothing has begun, by what they wait for, if there are enough of them. */
function waitingAmong(nodes: readonly TreeNode[]): readonly WaitingRuns[] {
  const found = new Map<string, TreeNode[]>();
  for (const node of nodes) {
    const what = node.kind === 'run' ? waitsFor(node.run) : commonWait(node.runs);
    if (what === null) continue;
    const others = found.get(what);
    if (others === undefined) found.set(what, [node]);
    else others.push(node);
  }
  return [...found]
    .map(([what, own]) => ({
      what,
      nodes: own,
      runs: own.flatMap((node) => (node.kind === 'run' ? node.run : node.runs)),
    }))
    .filter(({ runs }) => runs.length >= leastWaiting);
}

function commonWait(runs: readonly RunSummary[]): string | null {
  const what = waitsFor(runs[0]!);
  return what !== null && runs.every((run) => waitsFor(run) === what) ? what : null;
}

/** What a run waits for; null if it has begun or is to be retried, as it is then shown individually. */
function waitsFor({ state, attempt, retryAt, reason }: RunSummary): string | null {
  if (attempt > 0 || retryAt !== null || (state !== 'queued' && state !== 'held')) return null;
  return reason === null ? state : whatOf(reason);
}

/** Cache by reason: thousands of runs share one, and each publication asks again. */
const known = new Map<string, string>();
const mostKnown = 1000;

/** The reason without its changing parts and advice: `waiting for a slot (2 of 2 busy)`. */
function whatOf(reason: string): string {
  const before = known.get(reason);
  if (before !== undefined) return before;
  const text = cleanText(reason).replace(/(?: \([^()]*\))?(?:; [^]*)?$/, '');
  const what = /^(?:waiting|held|starts)\b/.test(text) ? text : `queued: ${text}`;
  if (known.size > mostKnown) known.clear();
  known.set(reason, what);
  return what;
}
