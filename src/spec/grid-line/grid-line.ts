import { commentText } from '../../text/display-text.js';
import { stringify } from 'yaml';
import { unnamedGroup } from '../../base/ids.js';
import { isSeedName } from '../../base/scalar.js';
import { UserError } from '../../base/user-error.js';
import { macroNames } from '../expand/macros.js';
import { shellQuote } from '../../text/shell-words.js';
import { type ArgumentStyle, argumentStyles } from './argument-style.js';
import { type Baseline, readBaselines } from './baseline.js';
import { thenCommand } from './then-command.js';
import { readAssignments } from './read-assignments.js';
import type { SamplingKind } from '../expand/sampling/unit-points.js';
import type { GridValue } from './value-range.js';

/** A sweep in one line: `grid seed=0..4 lr=1e-4,3e-4 -- python train.py`. */
export type GridLine = {
  /** `name=value` words of the shell. */
  readonly assignments: readonly string[];
  readonly command: readonly string[];
  readonly style: ArgumentStyle;
  /** Limit on the number of runs; required where values are drawn. */
  readonly runCap: number | null;
  /** How points are drawn from lists, too; null: all combinations of lists are run. */
  readonly sample: SamplingKind | null;
  /** The command that follows every run, as typed; null: none. */
  readonly then: string | null;
  /** Variants with which every run is repeated, as typed. */
  readonly baselines: readonly string[];
};

/** Group of the runs of `then`. */
const thenGroup = 'then';

/**
 * The sweep file that a line stands for. The same line always gives the same text.
 *
 * @throws {UserError} With all mistakes in the values, each with a mark below it.
 */
export function gridSweepText(line: GridLine): string {
  if (line.command.length === 0) {
    throw new UserError(
      'There is no command to run.',
      'Put it after `--`: `memrl-tui grid seed=0..4 -- python train.py`.',
    );
  }
  const parameters = readAssignments(line.assignments);
  const isDrawn = [...parameters.values()].some(({ kind }) => kind === 'drawn');
  const method = line.sample ?? (isDrawn ? 'random' : null);
  if (method !== null && line.runCap === null) throw uncapped(parameters, method);
  // Where points are drawn, the group is named after the way.
  const group = method ?? unnamedGroup;
  // Seeds number repetitions of a point, so each drawn point is run with all of them.
  const isCrossed = (name: string) => method !== null && (line.sample === null || isSeedName(name));
  const baselines = readBaselines(line.baselines, [...parameters.keys()], [group, thenGroup]);
  const names = new Set(
    [parameters, ...baselines.map((baseline) => baseline.parameters)].flatMap((all) => [...all.keys()]),
  );
  const values = [...parameters].map(([name, value]) => `  ${flow(name)}: ${flow(written(value, isCrossed(name)))}`);
  return [
    heading(line),
    `command: ${flow(commandOf(line, [...names]))}`,
    ...(values.length === 0 ? [] : ['parameters:', ...values]),
    ...(line.runCap === null ? [] : [`run_cap: ${line.runCap}`]),
    ...groupLines(group, method, { baselines, then: line.then === null ? null : thenCommand(line.then) }),
    '',
  ].join('\n');
}

type Others = { readonly baselines: readonly Baseline[]; readonly then: readonly string[] | null };

/** The keys of the groups; none where a single group suffices. A file with a `method` and no groups would be one of W&B's. */
function groupLines(group: string, method: SamplingKind | null, { baselines, then }: Others): string[] {
  if (method === null && baselines.length === 0 && then === null) return [];
  const all = [group, ...baselines.map((baseline) => baseline.group)];
  return [
    'groups:',
    `  ${group}: ${method === null ? '{}' : `{ method: ${method} }`}`,
    ...baselines.flatMap((baseline) => [`  ${flow(baseline.group)}:`, ...baselineLines(baseline, group)]),
    ...(then === null ? [] : [`  ${thenGroup}:`, `    after_each: ${flow(all)}`, `    command: ${flow(then)}`]),
  ];
}

function baselineLines({ parameters }: Baseline, group: string): string[] {
  const values = [...parameters].map(([name, value]) => `      ${flow(name)}: ${flow(written(value, false))}`);
  return [`    for_each: ${group}`, '    parameters:', ...values];
}

function uncapped(parameters: ReadonlyMap<string, GridValue>, method: SamplingKind): UserError {
  const [name] = [...parameters].find(([, { kind }]) => kind === 'drawn') ?? [];
  const what = name === undefined ? `points are drawn (\`--sample ${method}\`)` : `\`${name}\` is drawn at random`;
  return new UserError(
    `${what[0]!.toUpperCase()}${what.slice(1)}, and nothing says how many runs there are.`,
    'Say it with `--run-cap 20`. Lists, such as seeds, are run at every point that is drawn, and count.',
  );
}

/** The line in a form that can be typed again. */
function heading({ assignments, command, style, runCap, sample, baselines, then }: GridLine): string {
  const options = [
    ...(style === 'equals' ? [] : ['--args', style]),
    ...(runCap === null ? [] : ['--run-cap', String(runCap)]),
    ...(sample === null ? [] : ['--sample', sample]),
    ...baselines.flatMap((text) => ['--baseline', text]),
    ...(then === null ? [] : ['--then', then]),
  ];
  const words = ['memrl-tui', 'grid', ...assignments, ...options, '--', ...command];
  return `# ${commentText(shellQuote(words))}`;
}

/** The command with the parameters appended, unless it has macros for them. */
function commandOf({ command, style }: GridLine, names: readonly string[]): string[] {
  const macros = [...names, ...macroNames.filter((name) => name.startsWith('args'))];
  const placed = command.some((word) => macros.some((name) => word.includes(`\${${name}}`)));
  return placed || names.length === 0 ? [...command] : [...command, argumentStyles[style]];
}

/** @param isCrossed Whether every drawn point is run with all values of a list. */
function written(value: GridValue, isCrossed: boolean): unknown {
  switch (value.kind) {
    case 'drawn':
      return value.distribution;
    case 'list':
      return isCrossed ? { grid: value.values } : value.values;
    case 'constant':
      return Array.isArray(value.value) ? { value: value.value } : constant(value.value);
  }
}

/** A constant as the sweep file writes it: a map needs `value`, unless it means "not passed". */
function constant(value: unknown): unknown {
  const isMap = typeof value === 'object' && value !== null;
  return isMap && !('unset' in value) ? { value } : value;
}

function flow(value: unknown): string {
  return stringify(value, { collectionStyle: 'flow', flowCollectionPadding: false, lineWidth: 0 }).trimEnd();
}
