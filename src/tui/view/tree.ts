import { type RunId, type RunSummary, type SweepSummary } from '../port.js';
import { cleanText } from './clean-text.js';
import { sorted, type Sort } from './sort.js';
import { tally, type Tally } from './tally.js';

export type RunNode = {
  readonly kind: 'run';
  readonly key: RunId;
  readonly depth: number;
  /** Key of the branch it hangs on. */
  readonly parent: string;
  /** The name without what the heading above already says. */
  readonly label: string;
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
  readonly runs: readonly RunSummary[];
  readonly tally: Tally;
  readonly children: readonly TreeNode[];
};

export type TreeNode = Branch | RunNode;

export type Tree = {
  readonly groups: readonly Branch[];
  /** Groups and subgroups by key. */
  readonly branches: ReadonlyMap<string, Branch>;
};

export type TreeOptions = {
  readonly matches: (run: RunSummary) => boolean;
  readonly sort: Sort;
  readonly metric: string | null;
  /** Unix ms. */
  readonly now: number;
  /** A tree of the same sweeps and metric: branches in which no run has changed are taken over from it as they are. */
  readonly previous?: Tree | undefined;
};

/** Groups in file order, subgroups in the order of their first run, runs in the chosen order. Groups left empty are not there. */
export function buildTree(runs: readonly RunSummary[], sweeps: readonly SweepSummary[], options: TreeOptions): Tree {
  const branches = new Map<string, Branch>();
  const members = bucket(runs.filter(options.matches), ({ sweep, group }) => `${sweep}/${group}`);
  const named = sweeps.flatMap((sweep) =>
    sweep.groups.map((group) => ({ ...group, key: `${sweep.name}/${group.name}` })),
  );
  const titles = new Map(named.map(({ key, title }) => [key, title]));
  const keys = [...new Set([...titles.keys(), ...members.keys()])].filter((key) => members.has(key));
  const groups = keys.map((key) => {
    const heading = { key, title: titles.get(key) ?? null, withSweep: sweeps.length > 1 };
    const own = sorted(members.get(key)!, options.sort, options.metric, options.now);
    return keep(branches, unchanged(options, key, own) ?? groupBranch(heading, own, options));
  });
  return { groups, branches };
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

/** The branch of the last tree, if it is of these very runs. */
function unchanged({ previous }: TreeOptions, key: string, runs: readonly RunSummary[]): Branch | null {
  const known = previous?.branches.get(key);
  if (known === undefined || known.runs.length !== runs.length) return null;
  return known.runs.every((run, index) => run === runs[index]) ? known : null;
}

/** Files a branch and what hangs on it under their keys. */
function keep(branches: Map<string, Branch>, branch: Branch): Branch {
  branches.set(branch.key, branch);
  for (const child of branch.children) if (child.kind !== 'run') branches.set(child.key, child);
  return branch;
}

type Heading = { key: string; title: string | null; withSweep: boolean };

function groupBranch({ key, title, withSweep }: Heading, runs: readonly RunSummary[], options: TreeOptions): Branch {
  const children = [...bucket(runs, ({ subgroup }) => subgroup ?? '')].flatMap(([name, seeds]): TreeNode[] => {
    if (name === '' || seeds.length === 1) return runNodes(seeds, { key, depth: 0, isSubgroup: false });
    return [unchanged(options, `${key}/${name}`, seeds) ?? subgroupBranch(name, seeds, key, options.metric)];
  });
  return {
    kind: 'group',
    key,
    depth: 0,
    parent: null,
    label: withSweep ? key : key.slice(key.indexOf('/') + 1),
    title: title === null ? null : cleanText(title),
    runs,
    tally: tally(runs, options.metric),
    children,
  };
}

function subgroupBranch(name: string, runs: RunSummary[], parent: string, metric: string | null): Branch {
  const key = `${parent}/${name}`;
  return {
    kind: 'subgroup',
    key,
    depth: 1,
    parent,
    label: cleanText(name),
    title: null,
    runs,
    tally: tally(runs, metric),
    children: runNodes(runs, { key, depth: 1, isSubgroup: true }),
  };
}

function runNodes(runs: readonly RunSummary[], parent: { key: string; depth: number; isSubgroup: boolean }): RunNode[] {
  const cut = parent.isSubgroup ? sharedPrefix(runs.map(({ name }) => name)) : 0;
  return runs.map((run) => ({
    kind: 'run',
    key: run.id,
    depth: parent.depth + 1,
    parent: parent.key,
    label: run.name.slice(cut),
    run,
  }));
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

function bucket<T>(items: readonly T[], keyOf: (item: T) => string): Map<string, T[]> {
  const buckets = new Map<string, T[]>();
  for (const item of items) {
    const key = keyOf(item);
    const found = buckets.get(key);
    if (found === undefined) buckets.set(key, [item]);
    else found.push(item);
  }
  return buckets;
}
