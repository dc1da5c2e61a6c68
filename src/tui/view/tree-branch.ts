import { bucket } from '../../base/bucket.js';
import type { RunSummary } from '../port.js';
import { cleanText } from './clean-text.js';
import type { Level } from './grouping-level.js';
import { tally } from './tally.js';
import type { Branch, RunNode, TreeNode } from './tree.js';

/** How the runs of one group are divided further, and what is known of them from the last time. */
export type BranchPlan = {
  readonly key: string;
  readonly label: string;
  readonly title: string | null;
  /** `setting`: runs that differ in the seed alone, as the sweep file has them; null: no further division. */
  readonly second: Level | 'setting' | null;
  readonly metric: string | null;
  /** A branch of the last tree; taken over where its runs are the same objects in the same order. */
  readonly known: (key: string) => Branch | undefined;
};

/** A group with all that hangs on it. `runs`: in the order of the list, at least one. */
export function groupBranch(plan: BranchPlan, runs: readonly RunSummary[]): Branch {
  const { key, label, title, second, metric } = plan;
  const children =
    second === null
      ? runNodes(runs, { key, depth: 1, isNamed: false }, plan.known(key)?.children)
      : second === 'setting'
        ? bySetting(plan, runs)
        : byLevel(plan, second, runs);
  return { kind: 'group', key, depth: 0, parent: null, label, title, runs, tally: tally(runs, metric), children };
}

/** The settings in the order of their first runs; one that has a single run needs no heading. */
function bySetting(plan: BranchPlan, runs: readonly RunSummary[]): TreeNode[] {
  const { key } = plan;
  return [...bucket(runs, ({ subgroup }) => subgroup ?? '')].flatMap(([name, seeds]): readonly TreeNode[] => {
    if (name === '') return runNodes(seeds, { key, depth: 1, isNamed: false }, plan.known(key)?.children);
    if (seeds.length === 1) return runNodes(seeds, { key, depth: 1, isNamed: false }, undefined);
    return [subgroupBranch(plan, { key: `${key}/${name}`, label: cleanText(name), isNamed: true }, seeds)];
  });
}

function byLevel(plan: BranchPlan, level: Level, runs: readonly RunSummary[]): TreeNode[] {
  const parts = [...bucket(runs, level.keyOf)].sort(([a], [b]) => level.order(a, b));
  return parts.map(([name, members]) =>
    subgroupBranch(plan, { key: `${plan.key}/${name}`, label: level.labelOf(name), isNamed: false }, members),
  );
}

/** `isNamed`: its runs' names begin with what the heading says, so that this is left out below it. */
type Heading = { readonly key: string; readonly label: string; readonly isNamed: boolean };

function subgroupBranch(plan: BranchPlan, { key, label, isNamed }: Heading, runs: readonly RunSummary[]): Branch {
  const known = plan.known(key);
  if (known !== undefined && areSame(known.runs, runs)) return known;
  return {
    kind: 'subgroup',
    key,
    depth: 1,
    parent: plan.key,
    label,
    title: null,
    runs,
    tally: tally(runs, plan.metric),
    children: runNodes(runs, { key, depth: 2, isNamed }, known?.children),
  };
}

type Parent = { readonly key: string; readonly depth: number; readonly isNamed: boolean };

/** Nodes of runs that have not changed are taken over, and so are labels while the same runs hang there. */
function runNodes(runs: readonly RunSummary[], parent: Parent, known: readonly TreeNode[] | undefined): RunNode[] {
  const same = known !== undefined && haveSameRuns(known, runs) ? known : null;
  if (same !== null)
    return runs.map((run, index) => (same[index]!.run === run ? same[index]! : { ...same[index]!, run }));
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

function haveSameRuns(nodes: readonly TreeNode[], runs: readonly RunSummary[]): nodes is readonly RunNode[] {
  return nodes.length === runs.length && nodes.every(({ key }, index) => key === runs[index]!.id);
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
