import { type RunId, type RunSummary, type SweepSummary } from '../port.js';
import { cleanText } from './clean-text.js';
import { sorted, type Sort } from './sort.js';
import { tally, type Tally } from './tally.js';

export type RunNode = {
  readonly kind: 'run';
  readonly key: RunId;
  readonly depth: number;
  readonly parent: Branch;
  /** The name without what the heading above already says. */
  readonly label: string;
  readonly run: RunSummary;
};

/** A group, or a subgroup below one. */
export type Branch = {
  readonly kind: 'group' | 'subgroup';
  readonly key: string;
  readonly depth: number;
  readonly parent: Branch | null;
  readonly label: string;
  readonly title: string | null;
  readonly runs: readonly RunSummary[];
  readonly tally: Tally;
  readonly children: (Branch | RunNode)[];
};

export type TreeNode = Branch | RunNode;

export type Tree = {
  readonly groups: readonly Branch[];
  /** Of the runs shown. */
  readonly tally: Tally;
};

export type TreeOptions = {
  readonly matches: (run: RunSummary) => boolean;
  readonly sort: Sort;
  readonly metric: string | null;
  /** Unix ms. */
  readonly now: number;
};

/** Groups in file order, subgroups in the order of their first run, runs in the chosen order. Groups left empty are not there. */
export function buildTree(runs: Iterable<RunSummary>, sweeps: readonly SweepSummary[], options: TreeOptions): Tree {
  const shown = [...runs].filter(options.matches);
  const members = bucket(shown, ({ sweep, group }) => `${sweep}/${group}`);
  const named = sweeps.flatMap((sweep) =>
    sweep.groups.map((group) => ({ ...group, key: `${sweep.name}/${group.name}` })),
  );
  const titles = new Map(named.map(({ key, title }) => [key, title]));
  const keys = [...new Set([...named.map(({ key }) => key), ...members.keys()])].filter((key) => members.has(key));
  const groups = keys.map((key) =>
    groupBranch({ key, title: titles.get(key) ?? null, withSweep: sweeps.length > 1 }, members.get(key)!, options),
  );
  return { groups, tally: tally(shown, options.metric) };
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

type Heading = { key: string; title: string | null; withSweep: boolean };

function groupBranch({ key, title, withSweep }: Heading, members: readonly RunSummary[], options: TreeOptions): Branch {
  const runs = sorted(members, options.sort, options.metric, options.now);
  const group: Branch = {
    kind: 'group',
    key,
    depth: 0,
    parent: null,
    label: withSweep ? key : key.slice(key.indexOf('/') + 1),
    title: title === null ? null : cleanText(title),
    runs,
    tally: tally(runs, options.metric),
    children: [],
  };
  for (const [name, seeds] of bucket(runs, ({ subgroup }) => subgroup ?? '')) {
    if (name === '' || seeds.length === 1) group.children.push(...runNodes(seeds, group));
    else group.children.push(subgroupBranch(name, seeds, group, options.metric));
  }
  return group;
}

function subgroupBranch(name: string, runs: RunSummary[], parent: Branch, metric: string | null): Branch {
  const branch: Branch = {
    kind: 'subgroup',
    key: `${parent.key}/${name}`,
    depth: 1,
    parent,
    label: cleanText(name),
    title: null,
    runs,
    tally: tally(runs, metric),
    children: [],
  };
  branch.children.push(...runNodes(runs, branch));
  return branch;
}

function runNodes(runs: readonly RunSummary[], parent: Branch): RunNode[] {
  const cut = parent.kind === 'subgroup' ? sharedPrefix(runs.map(({ name }) => name)) : 0;
  return runs.map((run) => ({
    kind: 'run',
    key: run.id,
    depth: parent.depth + 1,
    parent,
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
