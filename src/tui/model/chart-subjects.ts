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

/** One drawn run. An empty label is left out of the legend. `setting`: shared by the seeds of one setting. */
export type Subject = {
  readonly run: RunSummary;
  readonly label: string;
  readonly tone: Tone;
  readonly setting?: string;
};

/** The runs that are drawn, chosen from `begun` runs that have started. */
export type Subjects = { readonly drawn: readonly Subject[]; readonly begun: number };

/** Maximum number of curves: more cannot be told apart and cost memory. */
const mostCurves = 32;

/**
 * Colours of the list rows whose curves are drawn while `node` is selected, by row key: `node` itself if it is a run, otherwise its
 * children.
 */
export function colouredRows(node: TreeNode | undefined, scene: ListModel): ReadonlyMap<string, Tone> {
  const rows = node === undefined ? [] : node.kind === 'run' ? [node] : node.children;
  const drawn = new Set(subjectsOf(node, scene).drawn.map(({ run }) => run));
  const coloured = rows.filter((row) => (row.kind === 'run' ? [row.run] : row.runs).some((run) => drawn.has(run)));
  return new Map(coloured.map(({ key }) => [key, scene.colours.of(key)]));
}

/**
 * The runs to draw: a run over its siblings in the background; the runs of a subgroup, each in its own colour; the runs of a group,
 * coloured by subgroup.
 */
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

/**
 * Subjects with the row under the pointer highlighted and the others in the background; unchanged if that row holds none or all of
 * them.
 */
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

/** Caches the last branch, because every frame asks and a group of thousands is expensive. A changed branch is a new object. */
const ofBranch = new Memo<Branch, Subjects>(1);

function subjectsOfBranch(node: Branch, colours: CurveColours): Subjects {
  const hasBranches = node.children.some(({ kind }) => kind !== 'run');
  const subjects = (
    hasBranches ? node.children.flatMap((child) => childSubjects(child, colours)) : eachRun(node, colours)
  ).filter(({ run }) => hasBegun(run));
  return { drawn: evenly(subjects, mostCurves), begun: subjects.length };
}

/** Whether a run may have metrics. A run taken over from an earlier sweep has some although it never started here. */
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

/** Returns a function that names a run's setting by the parameters that differ among these runs, except the seed: `lr 0.1 N 64`. */
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

/** At most `most` items at even distances, so that every subgroup is represented. */
function evenly<T>(items: readonly T[], most: number): T[] {
  if (items.length <= most) return [...items];
  return Array.from({ length: most }, (_, index) => items[Math.floor((index * items.length) / most)]!);
}
