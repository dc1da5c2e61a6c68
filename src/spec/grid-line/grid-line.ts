import { stringify } from 'yaml';
import { Name, unnamedGroup } from '../../base/ids.js';
import { isSeedName } from '../../base/scalar.js';
import { UserError } from '../../base/user-error.js';
import { commentText } from '../../text/display-text.js';
import { didYouMean } from '../../text/nearest.js';
import { shellQuote, shellWords } from '../../text/shell-words.js';
import { macroNames } from '../expand/command-words.js';
import type { SamplingKind } from '../expand/sampling/unit-points.js';
import { isUnset } from '../file/sweep-file.js';
import { type ArgumentStyle, argumentStyles } from './argument-style.js';
import { readAssignments } from './read-assignments.js';
import type { GridValue } from './value-syntax.js';

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

/** A variant with which every run is repeated: `filter: gradient_routing=False,baseline=filter`. */
type Baseline = {
  /** Its group, with which the names of its runs begin. */
  readonly group: string;
  readonly parameters: ReadonlyMap<string, GridValue>;
};

const example = "Write for example `--baseline 'no-momentum: momentum=0,nesterov=unset'`.";

/**
 * Parses the baselines of a line.
 *
 * @param names Parameters of the line: no other can be left out.
 * @param taken Names of other groups.
 * @throws {UserError} With the first mistake.
 */
function readBaselines(texts: readonly string[], names: readonly string[], taken: readonly string[]): Baseline[] {
  const groups = new Set(taken);
  return texts.map((text) => {
    const [, group = '', assignments = ''] = /^([^:=]*):(.*)$/s.exec(text) ?? [];
    const name = Name.safeParse(group.trim());
    if (!name.success) throw new UserError(`\`--baseline ${text}\` has no name.`, example);
    if (groups.has(name.data)) {
      throw new UserError(`There are two groups \`${name.data}\`.`, `Give \`--baseline ${text}\` another name.`);
    }
    groups.add(name.data);
    const parameters = valuesOf(text, wordsOf(assignments));
    refuseStrangers(text, parameters, names);
    return { group: name.data, parameters };
  });
}

/** Splits assignments at commas and blanks before a name: a list of values has commas, too. */
function wordsOf(assignments: string): string[] {
  const words = assignments.trim().split(/(?:\s*,\s*|\s+)(?=[A-Za-z_][A-Za-z0-9_.-]*=)/);
  return words.filter((word) => word !== '').map((word) => word.replace(/=unset$/, '=unset()'));
}

function valuesOf(text: string, words: readonly string[]): Map<string, GridValue> {
  if (words.length === 0) throw new UserError(`\`--baseline ${text}\` changes nothing.`, example);
  const parameters = readAssignments(words);
  const drawn = [...parameters].find(([, { kind }]) => kind === 'drawn');
  if (drawn === undefined) return parameters;
  throw new UserError(
    `\`${drawn[0]}\` is drawn at random in \`--baseline ${text}\`, and a baseline says what the runs are compared with.`,
    'Give it a value, or a list of values.',
  );
}

/** Refuses to leave out an unknown parameter, as a misspelt name would have no effect. */
function refuseStrangers(text: string, parameters: Baseline['parameters'], names: readonly string[]): void {
  const isLeftOut = (value: GridValue) => value.kind === 'constant' && isUnset(value.value);
  const stranger = [...parameters].find(([name, value]) => isLeftOut(value) && !names.includes(name))?.[0];
  if (stranger === undefined) return;
  throw new UserError(
    `\`--baseline ${text}\` leaves out \`${stranger}\`, which is no parameter of the line. ${didYouMean(stranger, names)}`,
    `Correct the name, or give the runs a \`${stranger}\`.`,
  );
}

/** Macros of a run in the line, and those of the group whose runs come after it. */
const macros: Readonly<Record<string, string>> = {
  run_dir: 'after_dir',
  run_name: 'after_name',
  then_dir: 'run_dir',
  then_name: 'run_name',
};

/** Placeholders for the braces of a macro, which a shell would read as a variable. Private-use characters, which nobody types. */
const [OPEN, CLOSE] = ['\ue000', '\ue001'];

/**
 * The words of the command that follows each run, for its group: `${run_dir}` and `${run_name}` are those of the run that is done,
 * `${then_dir}` and `${then_name}` its own.
 *
 * @throws {UserError} Where there is no command, or it needs a shell.
 */
function thenCommand(text: string): string[] {
  const kept = text.replace(/\$\{([^}\s]+)\}/g, (_, name: string) => `${OPEN}${macros[name] ?? name}${CLOSE}`);
  const read = shellWords(kept);
  if (read.kind === 'refused') {
    throw new UserError(
      `${read.why} in \`--then ${text}\` needs a shell, and commands are run without one.`,
      `Quote it if it is meant as it stands, or write a script and follow each run with that: --then 'sh after.sh \${run_dir}'.`,
    );
  }
  const words = read.words.map((word) => word.text.replaceAll(OPEN, '${').replaceAll(CLOSE, '}'));
  if (words.length > 0 && !/^[A-Za-z_]\w*=/.test(words[0]!)) return words;
  throw new UserError(
    words.length === 0
      ? '`--then` has no command.'
      : `\`--then ${text}\` begins with a variable and not with a program.`,
    "Write for example --then 'python eval.py --model=${run_dir}', or begin it with `env NAME=value`.",
  );
}
