import type { RunId } from '../../base/ids.js';
import { type Block, isInherited } from '../file/sweep-file.js';
import type { KeyPath } from '../file/diagnostic.js';
import type { MetricChoice, PlannedRun, StartRule } from '../planned-run.js';
import { argsFile, type CommandWords, filledParameters, type MacroValues, parametersJson } from './command-words.js';
import type { CompiledBlock } from './compile-block.js';
import type { CelValue } from './expression/cel-environment.js';
import { evaluated, type Point, PointError } from './grid.js';
import { identityOf } from './identity.js';
import type { Template } from './expression/expression.js';
import { wandbConfigFile, wandbConfigText, wandbEnvironment } from './wandb-run.js';

/** The options of a launch, and where it happens. */
export type ExpandOptions = {
  /** Absolute path of the folder that holds the sweeps. */
  readonly runsDirectory: string;
  /** Absolute path of the user's working directory; `cwd` of the file is relative to it. */
  readonly cwd: string;
  /** The environment, for `${envvar:NAME}`. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** The time zone of the user's clock, for `start`; absent: UTC. */
  readonly zone?: string;
  /** `--set`: `n_batches=500`, `A.N=[16, 64]`, `stop_when=null`. */
  readonly set?: readonly string[];
  /** `--sweep`: only these groups and what they need. */
  readonly groups?: readonly string[];
};

/** A point with the name of its run. */
export type NamedPoint = Point & { readonly name: string };

type Making = {
  readonly sweep: string;
  readonly options: ExpandOptions;
  readonly group: CompiledBlock;
  readonly point: NamedPoint;
};

/**
 * Makes one complete run.
 *
 * @throws {PointError} When a template or a macro cannot be filled at this point.
 */
export function plannedRun({ sweep, options, group, point }: Making): PlannedRun {
  const { block } = group;
  const macros = macrosOf({ sweep, options, group, point });
  const fill = (words: CommandWords['render'], keys: KeyPath) =>
    evaluated({ source: '', evaluate: () => words(macros) }, point.variables, keys);
  const [program, ...rest] = fill(group.command.render, block.command.keys);
  if (program === undefined)
    throw new PointError('the command has no words.', block.command.keys, { start: 0, end: 1 });
  const values = fill(group.env.renderTexts, block.env.keys);
  const own = Object.fromEntries(Object.keys(block.env.content).map((name, index) => [name, values[index]!]));
  const cwd = joinPath(options.cwd, group.cwd && block.cwd ? fill(group.cwd.renderTexts, block.cwd.keys)[0]! : '');
  const folders = fill(group.folders.renderTexts, block.folders.keys).map((folder) => joinPath(cwd, folder));
  const parameters = macros.parameters as PlannedRun['parameters'];
  const identity = identityOf(experimentOf(block, point), parameters, block.extends.content);
  const wandb = wandbOf(group, { ...macros, sweep, identity });
  return {
    id: `${sweep}/${point.name}` as RunId,
    sweep,
    group: block.group,
    subgroup: group.subgroup && evaluated(rendering(group.subgroup.content), point.variables, group.subgroup.keys),
    name: point.name,
    parameters,
    identity,
    ...budgetOf(block),
    argv: [program, ...rest],
    resumeArgs: fill(group.resumeArgs.render, block.resumeArgs.keys),
    env: { ...wandb.env, ...own },
    ...placeOf(block, cwd),
    directory: macros.runDirectory,
    ...neededOf(block, point),
    done: block.done.content,
    ...doneArgvOf(group, fill),
    stopWhen: block.stopWhen?.content ?? null,
    resources: block.resources,
    ...policyOf(block),
    ...{ ...inputOf(block), ...startOf(block.start, options.zone) },
    metrics: metricsOf(group, point, folders),
    ...filesOf({ ...argsFileOf(group, macros), ...wandb.files }),
  };
}

/** The key of an experiment in identities: runs that come after runs of different groups may have the same parameters. */
function experimentOf({ group }: Block, { after }: NamedPoint): string {
  return after === undefined ? group : `${group} after ${after.group}`;
}

function neededOf({ needs }: Block, { after }: NamedPoint): Pick<PlannedRun, 'needs' | 'neededRuns'> {
  const groups = needs.filter(({ by }) => by.length === 0).map(({ group }) => group);
  return { needs: groups, ...(after === undefined ? {} : { neededRuns: [after.name] }) };
}

function placeOf({ code }: Block, cwd: string): Pick<PlannedRun, 'cwd' | 'snapshot'> {
  return code === 'snapshot' ? { cwd, snapshot: { path: null, cwd } } : { cwd };
}

type Fill = (words: CommandWords['render'], keys: KeyPath) => string[];

/** The command of the done rule. @throws {PointError} Where no word is left of it. */
function doneArgvOf({ done, block }: CompiledBlock, fill: Fill): Pick<PlannedRun, 'doneArgv'> {
  if (done === null) return {};
  const [program, ...rest] = fill(done.render, block.done.keys);
  if (program !== undefined) return { doneArgv: [program, ...rest] };
  throw new PointError('the command of `done` has no words.', block.done.keys, { start: 0, end: 1 });
}

/** @param folders Absolute paths. */
function metricsOf(group: CompiledBlock, point: NamedPoint, folders: string[]): PlannedRun['metrics'] {
  const { show, x, patterns } = group.block;
  return {
    ...{ show: [...show], x, progress: progressOf(group, point) },
    ...(folders.length === 0 ? {} : { folders }),
    ...(Object.keys(patterns).length === 0 ? {} : { patterns }),
  };
}

type Files = Record<string, string>;

/** Variables and files for `wandb.init()` in the runs of a W&B file. */
function wandbOf(
  { block }: CompiledBlock,
  run: MacroValues & { sweep: string; identity: string },
): { env: Record<string, string>; files: Files } {
  if (block.dialect === 'own') return { env: {}, files: {} };
  const { sweep, identity, runName: name, runDirectory: directory, environment } = run;
  return {
    env: wandbEnvironment({ sweep, name, identity, directory, environment }),
    files: { [wandbConfigFile]: wandbConfigText(filledParameters(run)) },
  };
}

function filesOf(files: Files): Pick<PlannedRun, 'files'> {
  return Object.keys(files).length === 0 ? {} : { files };
}

function budgetOf({ extends: { content } }: Block): Pick<PlannedRun, 'budget'> {
  return content.length === 0 ? {} : { budget: [...content] };
}

function policyOf({ grace, timeout, priority, retry, objective, earlyTerminate }: Block) {
  const rule = objective === null ? null : earlyTerminate;
  return { grace, timeout, priority, retry, objective, earlyTerminate: rule?.content ?? null };
}

function inputOf({ stdin, terminal }: Block): Pick<PlannedRun, 'input'> {
  if (terminal) return { input: 'terminal' };
  return stdin === 'none' ? {} : { input: 'lines' };
}

/** One object for all runs of a group, so that it is written once. */
export function startOf(start: Block['start'], zone = 'UTC'): Pick<PlannedRun, 'start'> {
  if (start === null) return {};
  const known = zoned.get(start);
  const rule = known?.zone === zone ? known : { ...start, zone };
  zoned.set(start, rule);
  return { start: rule };
}

const zoned = new WeakMap<object, StartRule>();

function argsFileOf({ command, resumeArgs }: CompiledBlock, macros: MacroValues): Files {
  const isWanted = [command, resumeArgs].some((words) => words.macros.has('args_json_file'));
  return isWanted ? { [argsFile]: `${parametersJson(macros)}\n` } : {};
}

/** A template in the form of an expression. */
export function rendering({ source, render }: Template): {
  source: string;
  evaluate: (variables: Readonly<Record<string, CelValue>>) => string;
} {
  return { source, evaluate: render };
}

function macrosOf({ sweep, options, group, point }: Making): MacroValues {
  const sweepDirectory = joinPath(options.runsDirectory, sweep);
  return {
    parameters: point.parameters,
    nesting: group.nesting,
    writing: group.writing,
    runDirectory: `${sweepDirectory}/${point.name}`,
    runName: point.name,
    sweepDirectory,
    after: point.after?.name ?? null,
    program: group.block.program,
    environment: options.environment,
  };
}

function progressOf({ block, total }: CompiledBlock, { variables }: Point): MetricChoice['progress'] {
  if (block.progress === null || total === null) return null;
  const isThere = total.content.names.every((name) => Object.hasOwn(variables, name));
  if (!isThere && isInherited(block.progress, block)) return null;
  const value = Number(evaluated(total.content, variables, total.keys));
  if (Number.isFinite(value) && value > 0) return { key: block.progress.content.key, total: value };
  const problem = `the total must be a number above 0; it gives ${value}.`;
  throw new PointError(problem, total.keys, { start: 0, end: total.content.source.length });
}

/** A POSIX path below another; an absolute one stays as it is. `.` and `..` are resolved, as a shell's `cd` does. */
export function joinPath(base: string, path: string): string {
  const whole = path.startsWith('/') ? path : `${base}/${path}`;
  const parts: string[] = [];
  for (const part of whole.split('/')) {
    if (part === '..') parts.pop();
    else if (part !== '' && part !== '.') parts.push(part);
  }
  return `/${parts.join('/')}`;
}
