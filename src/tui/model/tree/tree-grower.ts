import type { RunSummary, SweepSummary } from '../../state/port.js';
import { type Branch, BranchIndex, type Tree, type TreeOptions, type TreeNode } from './branch.js';
import { inOrder, type Level, levelOf } from './grouping-level.js';
import { groupBranch, sameIfEqual } from './tree-branch.js';
import { naturalOrder } from '../../../text/natural-order.js';
import {
  type ColumnId,
  columnKey,
  curveValueOf,
  groupingKey,
  initialGrouping,
  isFlat,
  isLive,
  type Sort,
  type SortBy,
} from '../../state/list-choice.js';
import { anyParameterOf } from '../../../base/scalar.js';
import { parameterOrder } from '../varying-parameters.js';
import { statesByUrgency } from '../state-look.js';
import { progressOf } from '../../../base/run-words.js';
import { bestOf, elapsed } from '../tally.js';

/** What shapes the tree besides the runs. */
type Recipe = {
  readonly inputs: readonly unknown[];
  /** Prefix of all branch keys. Folds are remembered separately for each grouping. */
  readonly prefix: string;
  readonly first: Level;
  readonly second: Level | 'setting' | null;
  readonly isFlat: boolean;
  readonly foldsWaiting: boolean;
  readonly isAscii: boolean;
};

/**
 * A group being built: positions of its runs among all runs, and their order in the list. A null order must be recomputed whenever
 * a run changes.
 */
type Group = { readonly members: readonly number[]; readonly order: readonly number[] | null; readonly branch: Branch };

type Changes = { readonly changed: ReadonlySet<string>; readonly hasMoved: boolean };

/**
 * Builds successive trees, reusing what has not changed. A publication costs one look at every run and the rebuilding of groups
 * with a changed run. Within these, unchanged subgroups and rows are reused.
 */
export class TreeGrower {
  #recipe: Recipe | null = null;
  #runs: readonly RunSummary[] = [];
  /** Key of each run's group; null for one that is not shown. */
  #places: (string | null)[] = [];
  #groups = new Map<string, Group>();
  /** Labels of the groups; the same array while they do not change. */
  #labels: readonly string[] = [];
  #tree = treeOf([], false);

  /** Builds the tree: groups in the order of their level, runs in the chosen order, empty groups left out. */
  grow(runs: readonly RunSummary[], sweeps: readonly SweepSummary[], options: TreeOptions): Tree {
    this.#follow(sweeps, options);
    const { changed, hasMoved } = this.#look(runs, options);
    this.#runs = runs;
    if (changed.size === 0 && !hasMoved) return this.#tree;
    const members = hasMoved ? membersOf(this.#places) : null;
    const keys = members === null ? [...this.#groups.keys()] : inOrder(members, this.#recipe!.first);
    this.#labels = sameIfEqual(this.#labels, keys.map(this.#recipe!.first.labelOf));
    const groups = keys.map((key): [string, Group] => {
      const known = this.#groups.get(key);
      const own = members?.get(key) ?? known!.members;
      const isSame = known !== undefined && areEqual(known.members, own);
      if (isSame && !changed.has(key) && known.branch.among === this.#labels) return [key, known];
      const order = this.#orderOf(own, isSame && !hasMoved ? known.order : null, options);
      return [key, this.#group(key, own, order, { metric: options.metric, before: known?.branch })];
    });
    this.#groups = new Map(groups);
    this.#tree = treeOf(
      groups.map(([, { branch }]) => branch),
      this.#recipe!.isFlat,
    );
    return this.#tree;
  }

  /** Applies the options. A different recipe rebuilds everything. */
  #follow(sweeps: readonly SweepSummary[], options: TreeOptions): void {
    const { matches, grouping = initialGrouping, foldsWaiting = false, isAscii = false, sort, metric } = options;
    const prefix = groupingKey(grouping);
    const inputs = [...sweeps, prefix, foldsWaiting, isAscii, matches, sort.by, sort.isReversed, metric];
    if (this.#recipe !== null && areEqual(this.#recipe.inputs, inputs)) return;
    const [first, second] = grouping;
    const below = isFlat(grouping)
      ? null
      : second !== undefined
        ? levelOf(second, sweeps)
        : first.kind === 'group'
          ? 'setting'
          : null;
    this.#recipe = {
      inputs,
      prefix,
      first: levelOf(first, sweeps),
      second: below,
      isFlat: isFlat(grouping),
      foldsWaiting,
      isAscii,
    };
    this.#runs = [];
    this.#places = [];
    this.#groups = new Map();
    this.#tree = treeOf([], this.#recipe.isFlat);
  }

  /** Finds groups with changed runs, and whether any run was added, removed or moved to another group. */
  #look(runs: readonly RunSummary[], { matches }: TreeOptions): Changes {
    const { first } = this.#recipe!;
    const changed = new Set<string>();
    let hasMoved = runs.length !== this.#runs.length;
    this.#places = runs.map((run, index) => {
      const known = this.#runs[index];
      const before = this.#places[index] ?? null;
      if (known === run) return before;
      const place = matches(run)
        ? isStill(first, known, run)
          ? (before ?? first.keyOf(run))
          : first.keyOf(run)
        : null;
      if (place !== null) changed.add(place);
      if (place !== before || known?.id !== run.id) hasMoved = true;
      return place;
    });
    return { changed, hasMoved };
  }

  /** The runs of a group in list order. `known`: an order that is still valid. */
  #orderOf(members: readonly number[], known: readonly number[] | null, { sort, metric, now }: TreeOptions): Order {
    if (known !== null) return { runs: known.map((index) => this.#runs[index]!), order: known };
    const own = members.map((index) => this.#runs[index]!);
    const runs = sorted(own, sort, metric, now);
    if (isLive(sort)) return { runs, order: null };
    const positions = new Map(own.map((run, index) => [run, members[index]!]));
    return { runs, order: runs.map((run) => positions.get(run)!) };
  }

  #group(
    key: string,
    members: readonly number[],
    { runs, order }: Order,
    { metric, before }: { metric: string | null; before: Branch | undefined },
  ): Group {
    const { prefix, first, second, isFlat: isOneList, foldsWaiting, isAscii } = this.#recipe!;
    const plan = {
      key: prefix === '' ? key : `${prefix}|${key}`,
      label: first.labelOf(key),
      among: this.#labels,
      title: first.titleOf(key),
      isFailure: first.isFailure(key),
      isFlat: isOneList,
      second,
      foldsWaiting,
      isAscii,
      metric,
    };
    return { members, order, branch: groupBranch(plan, runs, before) };
  }
}

type Order = { readonly runs: readonly RunSummary[]; readonly order: readonly number[] | null };

/**
 * Whether a changed run certainly stays in its group. The client keeps the parameter object of a run that it receives no parameters
 * for.
 */
function isStill({ isFixed }: Level, known: RunSummary | undefined, run: RunSummary): boolean {
  const isSame = known?.id === run.id && known.parameters === run.parameters && known.declared === run.declared;
  return isFixed && isSame;
}

function membersOf(places: readonly (string | null)[]): Map<string, number[]> {
  const members = new Map<string, number[]>();
  places.forEach((key, index) => {
    if (key === null) return;
    const found = members.get(key);
    if (found === undefined) members.set(key, [index]);
    else found.push(index);
  });
  return members;
}

function treeOf(groups: readonly Branch[], flat: boolean): Tree {
  return { groups, branches: new BranchIndex(groups), isFlat: flat };
}

function areEqual(a: readonly unknown[], b: readonly unknown[]): boolean {
  return a.length === b.length && a.every((item, index) => Object.is(item, b[index]));
}

export type { TreeOptions } from './branch.js';

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

/** Runs in the chosen order. The sort is stable; runs without a value come last in either direction. `now`: Unix ms. */
export function sorted(
  runs: readonly RunSummary[],
  sort: Sort,
  metric: string | null,
  now: number,
): readonly RunSummary[] {
  if (sort.by === 'file order') return sort.isReversed ? [...runs].reverse() : runs;
  const key = columnKey(sort.by as ColumnId);
  const sign = sort.isReversed ? -1 : 1;
  if (key?.kind === 'parameter') return byParameter(runs, key.key, sign);
  const read = reader(sort.by, key?.key ?? metric, now);
  return runs
    .map((run) => ({ run, value: read(run) }))
    .sort((a, b) => valueOrder(a.value, b.value, sign))
    .map(({ run }) => run);
}

/** A sort value: numbers ascend, texts are in natural order; null and NaN mean no value. */
type Value = number | string | null;

function valueOrder(a: Value, b: Value, sign: number): number {
  const [isMissingA, isMissingB] = [isMissing(a), isMissing(b)];
  if (isMissingA || isMissingB) return Number(isMissingA) - Number(isMissingB);
  if (typeof a === 'number' && typeof b === 'number') return a < b ? -sign : a > b ? sign : 0;
  return sign * naturalOrder(String(a), String(b));
}

function isMissing(value: Value): boolean {
  return value === null || Number.isNaN(value);
}

function byParameter(runs: readonly RunSummary[], key: string, sign: number): RunSummary[] {
  return [...runs].sort((first, second) => {
    const [a, b] = [anyParameterOf(first, key), anyParameterOf(second, key)];
    return a === undefined || b === undefined ? parameterOrder(a, b) : sign * parameterOrder(a, b);
  });
}

function reader(by: SortBy, metric: string | null, now: number): (run: RunSummary) => Value {
  const read = readers[by];
  if (read !== undefined) return (run) => read(run, now);
  const word = curveValueOf(by)?.word;
  if (word !== undefined) return ({ curveValues }) => falling(curveValues?.[word]);
  return (run) => falling(metric === null ? null : run.metrics[metric]);
}

/** Sort values in ascending order; columns that start with the highest value are negated. */
const readers: Partial<Record<SortBy, (run: RunSummary, now: number) => Value>> = {
  state: ({ state }) => statesByUrgency.indexOf(state),
  name: ({ name }) => name,
  progress: (run) => falling(run.state === 'queued' ? null : progressOf(run)),
  left: ({ etaSeconds }) => etaSeconds,
  slot: ({ slot }) => slot,
  time: (run, now) => falling(elapsed(run, now)),
  cpu: ({ cpu }) => falling(cpu),
  memory: ({ memory }) => falling(memory),
  'gpu memory': ({ gpuMemory }) => falling(gpuMemory),
  attempt: ({ attempt }) => falling(attempt),
  exit: ({ exit }) => (exit === null ? null : (exit.signal ?? `${exit.class} ${exit.code ?? ''}`)),
  priority: ({ priority }) => falling(priority),
  tags: ({ annotation }) => annotation?.tags.join(' ') || null,
  best: (run) => {
    const value = bestOf(run);
    return run.best?.goal === 'maximize' ? falling(value) : (value ?? null);
  },
  note: ({ annotation }) => annotation?.note ?? null,
};

function falling(value: number | null | undefined): number | null {
  return value === null || value === undefined ? null : -value;
}
