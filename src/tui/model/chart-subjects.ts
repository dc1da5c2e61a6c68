import { parameterOf } from '../../base/scalar.js';
import type { CurveColours } from './curve-colours.js';
import type { ListModel } from './list-model.js';
import { Memo } from '../../base/memo.js';
import { distinctNames } from '../../text/distinct-names.js';
import type { RunSummary } from '../state/port.js';
import type { Branch, TreeNode } from './tree/branch-index.js';
import type { Tone } from '../surface/span.js';
import { parameterText } from './parameter-text.js';
import { varyingKeys } from './varying-keys.js';

/** One run among those drawn. An empty label is not in the legend. `setting`: the same for the seeds of one setting. */
export type Subject = {
  readonly run: RunSummary;
  readonly label: string;
  readonly tone: Tone;
  readonly setting?: string;
};

/** The runs drawn, and of how many that have begun they were taken. */
export type Subjects = { readonly drawn: readonly Subject[]; readonly begun: number };

/** More curves than this cannot be told apart, and cost memory. */
const mostCurves = 32;

/**
 * The colours of the rows of the list whose curves are drawn while this one is selected, by their keys: its own where it is a run,
 * else those of its parts.
 */
export function colouredRows(node: TreeNode | undefined, scene: ListModel): ReadonlyMap<string, Tone> {
  const rows = node === undefined ? [] : node.kind === 'run' ? [node] : node.children;
  const drawn = new Set(subjectsOf(node, scene).drawn.map(({ run }) => run));
  const coloured = rows.filter((row) => (row.kind === 'run' ? [row.run] : row.runs).some((run) => drawn.has(run)));
  return new Map(coloured.map(({ key }) => [key, scene.colours.of(key)]));
}

/** A run over its siblings in the background; a subgroup's runs each in its colour; a group's by subgroup when they are many. */
export function subjectsOf(node: TreeNode | undefined, { tree, colours }: ListModel): Subjects {
  if (node === undefined) return { drawn: [], begun: 0 };
  if (node.kind === 'run') {
    const drawn = [
      ...siblings(tree.branches.get(node.parent), node.run),
      { run: node.run, label: '', tone: colours.of(node.key) },
    ];
    return { drawn, begun: drawn.length };
  }
  return ofBranch.value(node, '', () => subjectsOfBranch(node, colours));
}

/** Those of the row under the mouse before all others, which go into the background; as they are where that tells nothing apart. */
export function withHighlight(
  subjects: readonly Subject[],
  row: TreeNode | undefined,
  colours: CurveColours,
): readonly Subject[] {
  if (row === undefined) return subjects;
  const runs = new Set(row.kind === 'run' ? [row.run] : row.runs);
  const count = subjects.filter(({ run }) => runs.has(run)).length;
  if (count === 0 || count === subjects.length) return subjects;
  return subjects.map((subject): Subject => {
    if (!runs.has(subject.run)) return { ...subject, tone: 'faint' };
    return subject.tone === 'faint' ? { ...subject, tone: colours.of(row.key) } : subject;
  });
}

/** Asked for in every frame, and dear for a group of thousands; a branch in which anything has changed is another one. */
const ofBranch = new Memo<Branch, Subjects>(1);

function subjectsOfBranch(node: Branch, colours: CurveColours): Subjects {
  const hasBranches = node.children.some(({ kind }) => kind !== 'run');
  const subjects = (
    hasBranches ? node.children.flatMap((child) => childSubjects(child, colours)) : eachRun(node, colours)
  ).filter(({ run }) => hasBegun(run));
  return { drawn: evenly(subjects, mostCurves), begun: subjects.length };
}

/** A run that was taken over from an earlier sweep never started here, and has its metrics all the same. */
function hasBegun({ state, attempt }: RunSummary): boolean {
  return attempt > 0 || (state !== 'queued' && state !== 'held');
}

function siblings(parent: Branch | undefined, run: RunSummary): Subject[] {
  if (parent?.kind !== 'subgroup' || parent.runs.length > 8) return [];
  return parent.runs
    .filter(({ id }) => id !== run.id)
    .map((other) => ({ run: other, label: '', tone: 'faint', setting: 'siblings' }));
}

function eachRun(branch: Branch, colours: CurveColours): Subject[] {
  const settingOf = branch.kind === 'subgroup' ? () => branch.label : settingsAmong(branch.runs);
  return branch.children.flatMap((child): Subject[] =>
    child.kind === 'run'
      ? [
          {
            run: child.run,
            label: child.label,
            tone: colours.of(child.key),
            setting: settingOf(child.run) || branch.label,
          },
        ]
      : [],
  );
}

function childSubjects(child: TreeNode, colours: CurveColours): Subject[] {
  const tone = colours.of(child.key);
  if (child.kind === 'run') return [{ run: child.run, label: child.label, tone }];
  return child.runs.map((run) => ({ run, label: child.label, tone, setting: child.label }));
}

/** Names a run's setting by the parameters that tell these runs apart, but for their seeds: `lr 0.1 N 64`. */
function settingsAmong(runs: readonly RunSummary[]): (run: RunSummary) => string {
  const keys = [...varyingKeys(runs)].filter((key) => !/(^|[._-])seed$/i.test(key));
  const settingOf = ({ parameters }: RunSummary): string =>
    keys
      .flatMap((key) => {
        const value = parameterOf(parameters, key);
        return value === undefined ? [] : [`${key} ${parameterText(value)}`];
      })
      .join(' ');
  const settings = [...new Set(runs.map(settingOf))];
  const names = distinctNames(settings);
  const nameOf = new Map(settings.map((setting, index) => [setting, names[index]!]));
  return (run) => nameOf.get(settingOf(run)) ?? '';
}

/** At most `most` of them, evenly taken, so that every subgroup is still there. */
function evenly<T>(items: readonly T[], most: number): T[] {
  if (items.length <= most) return [...items];
  return Array.from({ length: most }, (_, index) => items[Math.floor((index * items.length) / most)]!);
}
