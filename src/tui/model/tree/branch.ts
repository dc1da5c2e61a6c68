import { progressOf } from '../../../base/run-words.js';
import { anyParameterOf, parameterOf } from '../../../base/scalar.js';
import { fits, type PlainVerb } from '../../../protocol/run-verbs.js';
import { cleanText } from '../../../text/display-text.js';
import { distinctNames } from '../../../text/distinct-names.js';
import { folderText, romanized } from '../../../text/romanized.js';
import type { RunId, RunSummary } from '../../state/port.js';
import type { Grouping, Sort } from '../../state/list-choice.js';
import { soundRuns, type Tally } from '../tally.js';
import { parameterText, varyingParametersOf } from '../varying-parameters.js';

export type RunNode = {
  readonly kind: 'run';
  readonly key: RunId;
  readonly depth: number;
  /** Key of the parent branch. */
  readonly parent: string;
  /** The part of the name that distinguishes it from its siblings. */
  readonly label: string;
  /** Labels of all siblings including its own. A shortened label keeps what distinguishes it from these. */
  readonly among: readonly string[];
  readonly run: RunSummary;
};

/** A group, a subgroup of one, or a row of runs in either that wait for the same thing. */
export type Branch = {
  readonly kind: 'group' | 'subgroup' | 'waiting';
  readonly key: string;
  readonly depth: number;
  /** Key of the parent branch; null for a group. */
  readonly parent: string | null;
  readonly label: string;
  /** Labels of all siblings including its own, as for a run. */
  readonly among: readonly string[];
  readonly title: string | null;
  /** Whether these runs failed in the same way. */
  readonly isFailure: boolean;
  /** Runs in the order of the list. */
  readonly runs: readonly RunSummary[];
  readonly tally: Tally;
  readonly children: readonly TreeNode[];
};

export type TreeNode = Branch | RunNode;

export type Tree = {
  readonly groups: readonly Branch[];
  readonly branches: BranchIndex;
  /** Whether there is only one group, which has no row. */
  readonly isFlat: boolean;
};

/** The word for a kind of node in messages. */
export function kindWord({ kind }: TreeNode): string {
  return kind === 'waiting' ? 'row of waiting runs' : kind;
}

export type TreeOptions = {
  /** Which runs are shown. A different function is treated as a different filter. */
  readonly matches: (run: RunSummary) => boolean;
  /** Default: the grouping of the sweep file. */
  readonly grouping?: Grouping;
  /** Whether runs that wait for the same thing are folded into one row. */
  readonly foldsWaiting?: boolean;
  /** Whether names must be distinct in ASCII. */
  readonly isAscii?: boolean;
  readonly sort: Sort;
  readonly metric: string | null;
  /** Unix ms. */
  readonly now: number;
};

/** Branches by key. Descends only where a key can be, because reading the children of a branch creates them. */
export class BranchIndex {
  readonly #groups: readonly Branch[];

  constructor(groups: readonly Branch[]) {
    this.#groups = groups;
  }

  get(key: string): Branch | undefined {
    return branchOf(key, this.#groups);
  }

  has(key: string): boolean {
    return this.get(key) !== undefined;
  }

  /** Each branch, followed by its descendants. */
  values(): Branch[] {
    return this.#groups.flatMap(withBranches);
  }
}

function branchOf(key: string, branches: readonly Branch[]): Branch | undefined {
  for (const branch of branches) {
    if (branch.key === key) return branch;
    const found = isBelow(key, branch.key) ? branchOf(key, branchesOn(branch)) : undefined;
    if (found !== undefined) return found;
  }
  return undefined;
}

function withBranches(branch: Branch): Branch[] {
  return [branch, ...branchesOn(branch).flatMap(withBranches)];
}

function isBelow(key: string, group: string): boolean {
  return key.length > group.length && key[group.length] === '/' && key.startsWith(group);
}

export function branchesOn({ children }: Branch): Branch[] {
  return children.filter((child) => child.kind !== 'run');
}

/** Labels of runs in one list, in order: the part of each name that distinguishes it from the others. */
export function runLabels(runs: readonly RunSummary[], { isAscii }: { readonly isAscii: boolean }): readonly string[] {
  if (runs.some(({ name }) => isCut(name))) {
    const names = byParameters(runs);
    return distinctNames(isAscii ? names.map(romanized) : names);
  }
  // Without Unicode, names are shown as folders have them.
  return distinctNames(runs.map(isAscii ? ({ name }) => cleanText(name) : readableName));
}

/** Whether a name was too long for a folder, so that a hash replaces its last values. */
function isCut(name: string): boolean {
  return /^.{120,}_[0-9a-f]{8}$/.test(name);
}

/** Labels such as `lr=0.1_model=a`; the names themselves if parameters do not distinguish the runs. */
function byParameters(runs: readonly RunSummary[]): string[] {
  const varying = [...varyingParametersOf(runs).keys()];
  const names = runs.map(({ parameters }) =>
    varying
      .filter((key) => parameterOf(parameters, key) !== undefined)
      .map((key) => `${cleanText(key)}=${parameterText(parameterOf(parameters, key))}`)
      .join('_'),
  );
  return new Set(names).size === names.length ? names : runs.map(({ name }) => name);
}

/** The name with original parameter values where a folder name cannot hold them: `data-模型`, not `data-u6a21-u578b`. */
function readableName({ name, parameters }: RunSummary): string {
  let readable = cleanText(name);
  for (const key in parameters) {
    const value = parameterOf(parameters, key);
    if (typeof value !== 'string' || isFolderName.test(value)) continue;
    const written = folderText(value);
    const at = readable.indexOf(written);
    const isWord = leastWord.test(written) && !/^[\p{L}\p{N}]/u.test(readable.slice(at + written.length));
    if (at >= 0 && isWord) readable = readable.slice(0, at) + cleanText(value) + readable.slice(at + written.length);
  }
  return readable;
}

const isFolderName = /^[A-Za-z0-9._=+,@-]*$/;
/** A value is replaced only if it contains two letters or digits in a row; less could match any part of a name. */
const leastWord = /[A-Za-z0-9]{2}/;

/** Number of values in a trend, the maximum for one run. */
const points = 32;
/** Maximum number of runs in a mean trend; more would look the same in seven steps of height. */
const mostRuns = 256;

/**
 * What the row of a group shows beyond its tally, computed once per branch, since branches never change, and only for groups on the
 * screen.
 */
export const trendOf = remembered((branch) => meanTrend(soundRuns(branch.runs)));

/** Labels that distinguish the runs of a group, whatever divides it further. `letters`: `ascii`, or empty for any. */
export const labelsOf = remembered((branch, letters): readonly string[] =>
  runLabels(branch.runs, { isAscii: letters === 'ascii' }),
);

/** The value of a parameter that all runs share; null: they differ. */
export const commonValueOf = remembered((branch, parameter): string | null => {
  const textOf = (run: RunSummary) => parameterText(anyParameterOf(run, parameter));
  const first = branch.runs[0] === undefined ? '' : textOf(branch.runs[0]);
  return branch.runs.every((run) => textOf(run) === first) ? first : null;
});

/** Total resource usage of the runs, in the units of a run; null: none or unknown. */
export const usageOf = remembered((branch, what): number | null => {
  const known = branch.runs.flatMap((run) => run[what as 'cpu' | 'memory' | 'gpuMemory'] ?? []);
  return known.length === 0 ? null : known.reduce((sum, size) => sum + size);
});

/** Whether a verb applies to any of the runs. */
export const suits = remembered((branch, verb): boolean => branch.runs.some(fits({ verb: verb as PlainVerb })));

/** The run that failed first among those with a known end, otherwise any. */
export const firstFailureOf = remembered((branch): RunSummary => {
  const endOf = ({ endedAt }: RunSummary): number => endedAt ?? Infinity;
  return branch.runs.reduce((first, run) => (endOf(run) < endOf(first) ? run : first));
});

/** Whether all, some or none of a group's runs are marked. */
export function markState(branch: Branch, marks: ReadonlySet<RunId>): 'all' | 'some' | 'none' {
  if (marks.size === 0) return 'none';
  let [marked, others] = [false, false];
  for (const { id } of branch.runs) {
    if (marks.has(id)) marked = true;
    else others = true;
    if (marked && others) return 'some';
  }
  return marked ? 'all' : 'none';
}

function remembered<T>(compute: (branch: Branch, key: string) => T): (branch: Branch, key?: string) => T {
  const known = new WeakMap<Branch, Map<string, T>>();
  return (branch, key = '') => {
    let values = known.get(branch);
    if (values === undefined) known.set(branch, (values = new Map<string, T>()));
    if (!values.has(key)) values.set(key, compute(branch, key));
    return values.get(key)!;
  };
}

/**
 * Mean of the runs' trends from beginning to end of a run. Each point is the mean over the runs that have come that far; null if
 * none has.
 */
export function meanTrend(runs: readonly RunSummary[]): (number | null)[] {
  const sums = new Float64Array(points);
  const counts = new Uint32Array(points);
  const every = Math.max(1, Math.ceil(runs.length / mostRuns));
  for (let index = 0; index < runs.length; index += every) addRun(runs[index]!, sums, counts);
  return Array.from(sums, (sum, at) => (counts[at] === 0 ? null : sum / counts[at]!));
}

function addRun(run: RunSummary, sums: Float64Array, counts: Uint32Array): void {
  const { spark } = run;
  // The values of a run with unknown progress are spread over the whole width.
  const extent = run.progress === null ? 1 : progressOf(run);
  const reached = Math.min(points, Math.ceil(extent * points));
  for (let at = 0; at < reached; at++) {
    const value = spark[Math.floor((at * spark.length) / reached)];
    if (value === undefined || value === null || !Number.isFinite(value)) continue;
    sums[at] = sums[at]! + value;
    counts[at] = counts[at]! + 1;
  }
}
