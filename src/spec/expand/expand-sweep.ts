import { groupBy } from '../../base/group-by.js';
import type { RunId } from '../../base/ids.js';
import { UserError } from '../../base/user-error.js';
import { didYouMean } from '../../text/nearest.js';
import { checkBlock, checkSearch } from '../file/check-sweep.js';
import { type CommandLine, programName } from '../file/command-list.js';
import { diagnosticsError, type LocatedDiagnostic, locatedDiagnostic, type Report } from '../file/diagnostic.js';
import { applyOverrides, namedOverrides, reachNotes, startAtIn, variableIn } from '../file/overrides.js';
import { type Block, type Method, neededGroups, openCap, sourcesAfter, type SweepFile } from '../file/sweep-file.js';
import {
  Breaker,
  MetricChoice,
  type Plan,
  type PlannedGroup,
  type PlannedRun,
  Resources,
  RetryRule,
} from '../planned-run.js';
import { notifyOf } from '../policy/notify.js';
import { fileMs, withinTime } from './expression/time-limit.js';
import { compileBlock, type CompiledBlock, mostRuns } from './compile-block.js';
import { evaluated, type Point, PointError, pointOf, pointsOf, runsOfDraw, visitsOf } from './grid.js';
import { pointsOfRuns, sizesOf, sourcesOf, withNeededRuns, withoutUnneeded, withSources } from './dependencies.js';
import { identityOf } from './identity.js';
import { oneWordMacros } from './command-words.js';
import { valueText } from './value-text.js';
import { type ExpandOptions, joinPath, type NamedPoint, plannedRun, rendering, startOf } from './plan-run.js';
import {
  defaultNames,
  isRepetition,
  KeptNames,
  type KnownRun,
  type NameChanges,
  type NamedGroup,
  namesAfter,
  refuseClashes,
  varyingNames,
} from './run-name.js';

/**
 * All runs of a sweep file, complete, in launch order: groups in file order; in a group the axes in file order, the last varying
 * fastest, and `cases` faster than the axes.
 *
 * @throws {UserError} When an option does not fit the file, an expression fails at a point or takes too long, or two runs have the
 * same name.
 */
export function expandSweep(file: SweepFile, options: ExpandOptions): Plan {
  return expandBeside(file, options, []).plan;
}

/** A plan, and how the names of its runs differ from those by the file alone. */
export type Expansion = { readonly plan: Plan; readonly names: NameChanges };

/** Like `expandSweep`, where runs of the sweep exist: these keep their names. */
export function expandBeside(file: SweepFile, options: ExpandOptions, known: readonly KnownRun[]): Expansion {
  const kept = new KeptNames(known);
  const plan =
    file.kind === 'commands'
      ? expandCommands(file, options, kept)
      : withinTime(`To work out the runs of ${file.path}`, fileMs, () => expandGroups(file, options, kept));
  return { plan, names: kept.changes };
}

function expandGroups(file: GroupsFile, options: ExpandOptions, kept: KeptNames): Plan {
  const chosen = chooseGroups(file.blocks, options.groups ?? []);
  const prerequisites = chosen.flatMap(({ block, prerequisite }) => (prerequisite ? [block.group] : []));
  const all = applyOverrides(file.blocks, options.set ?? [], prerequisites);
  const planned = chosen.map(({ block: { group } }) => group);
  const blocks = all.filter(({ group }) => planned.includes(group));
  const compiled = compileAll(file, withSources(all, blocks));
  const sizes = sizesOf(compiled);
  refuseTooMany(file, compiled, sizes);
  refuseManyEdits(file, compiled);
  const named = namedGroups(file, compiled, kept).filter(({ group }) => blocks.includes(group.block));
  refuseClashes(
    file,
    named.map(({ group, byFile }) => ({ group, points: byFile })),
  );
  const ofGroups = named.flatMap(({ group, points }) =>
    atPlace(file, () => points.map((point) => plannedRun({ sweep: file.name, options, group, point }))),
  );
  const runs = withoutUnneeded(
    atPlace(file, () => withNeededRuns(blocks, ofGroups)),
    prerequisites,
  );
  if (runs.length === 0) {
    throw new UserError(
      `${file.path} has no runs: its \`when\` is false at every point.`,
      'Loosen `when`, or add values.',
    );
  }
  return {
    sweep: file.name,
    description: file.description,
    notify: file.notify && notifyOf(file, file.notify, options.environment),
    ...(file.executor === null ? {} : { executor: file.executor }),
    ...notesOf({ file, named, runs, reach: reachNotes(file.blocks, options.set ?? [], { planned, prerequisites }) }),
    ...sourceOf(file, compiled, { ...options, set: namedOverrides(file.blocks, options.set ?? [], prerequisites) }),
    groups: blocks.map((block) => plannedGroup({ block, prerequisite: prerequisites.includes(block.group) })),
    runs,
  };
}

/** The groups with their points, source groups first. `byFile`: the points under the names that the file gives them. */
function namedGroups(
  file: GroupsFile,
  compiled: readonly CompiledBlock[],
  kept: KeptNames,
): (NamedGroup & { readonly byFile: readonly NamedPoint[] })[] {
  const named: (NamedGroup & { readonly byFile: readonly NamedPoint[] })[] = [];
  for (const group of compiled) {
    const sources = sourcesOf(group.block, named);
    const points = () => (group.block.each === null ? ownPoints(group, kept) : pointsOfRuns(group, sources));
    const byFile = atPlace(file, () => namedPoints(group, points()));
    named.push({ group, byFile, points: withKeptNames(group, byFile, kept) });
  }
  return named;
}

/** The points of a group by its method. For an open group only the first is known before its runs have started. */
function ownPoints(group: CompiledBlock, kept: KeptNames): Point[] {
  const points = pointsOf(group);
  const { content: method } = group.block.method;
  if (method.kind === 'grid' || !method.open) return points;
  const found = kept.ofGroup(group.block.group).flatMap(({ parameters }) => pointOf(group, parameters) ?? []);
  const keyOf = ({ parameters }: Point) => identityOf('', parameters, group.block.extends.content);
  const byKey = groupBy([...points, ...found], keyOf);
  return [...byKey.values()].map(([first]) => first!).slice(0, Math.max(points.length, capOf(method)));
}

/** The points under the names of existing runs, where they are these. */
export function withKeptNames(group: CompiledBlock, points: readonly NamedPoint[], kept: KeptNames): NamedPoint[] {
  const { block, variants } = group;
  const steps = [...variants, ...points].flatMap((each) => each.steps ?? []);
  const derived = new Set(steps.filter(({ expr }) => expr !== null).map(({ name }) => name));
  const names = kept.namesOf({ group: block.group, budget: block.extends.content, derived }, points);
  return points.map((point, index) => (point.name === names[index] ? point : { ...point, name: names[index]! }));
}

export type GroupsFile = Extract<SweepFile, { kind: 'groups' }>;

/** Compiles blocks. @throws {UserError} With the mistakes in them. */
export function compileAll(file: GroupsFile, blocks: readonly Block[]): CompiledBlock[] {
  const diagnostics: LocatedDiagnostic[] = [];
  const diagnostic = locatedDiagnostic(file.placeOf);
  const report: Report = (mistake) => diagnostics.push(diagnostic(mistake));
  const compiled = blocks.flatMap((block) => {
    checkSearch(block, report);
    checkBlock(block, report);
    return compileBlock(block, report) ?? [];
  });
  // The file itself was checked when it was parsed, so these mistakes come from the options.
  if (diagnostics.length > 0) throw diagnosticsError(file.path, file.text, diagnostics);
  return compiled;
}

function refuseTooMany(file: GroupsFile, compiled: readonly CompiledBlock[], points: readonly number[]): void {
  const sizes = compiled.map(({ block }, index) => Math.max(points[index]!, capOf(block.method.content)));
  const total = sizes.reduce((sum, size) => sum + size, 0);
  if (total <= mostRuns) return;
  const { block, axes } = compiled[sizes.indexOf(Math.max(...sizes))]!;
  const long = axes.filter(({ values }) => values.length > 1);
  throw new UserError(
    `${file.path} would make ${total.toLocaleString('en-US')} runs; the limit is ${mostRuns.toLocaleString('en-US')}.`,
    block.method.content.kind === 'grid'
      ? `Shorten an axis of group \`${block.group}\` (${long.map(({ name, values }) => `${name} has ${values.length} values`).join(', ')}), or run the first points only: \`run_cap: 100\`.`
      : `Lower \`run_cap\` of group \`${block.group}\`.`,
  );
}

/** Number of runs that an open group will have. */
function capOf(method: Method): number {
  return method.kind === 'grid' || !method.open ? 0 : (method.cap ?? openCap);
}

/** Limit on the number of comparisons of an entry of `include` or `exclude` with a combination. */
const mostEdits = 100_000_000;

function refuseManyEdits(file: GroupsFile, compiled: readonly CompiledBlock[]): void {
  const large = compiled.find((group) => visitsOf(group) * (group.include.length + group.exclude.length) > mostEdits);
  if (large === undefined) return;
  const edits = large.include.length + large.exclude.length;
  throw new UserError(
    `${file.path}: group \`${large.block.group}\` has ${edits.toLocaleString('en-US')} entries of \`include\` and \`exclude\` for ${visitsOf(large).toLocaleString('en-US')} combinations, too many to go through.`,
    'Use `when` to leave combinations out, and `cases` to list those that there are.',
  );
}

/** The points of a group with the names of their runs. */
export function namedPoints(group: CompiledBlock, points: readonly Point[]): NamedPoint[] {
  const { name, block } = group;
  const names = name
    ? points.map(({ variables }) => evaluated(rendering(name.content), variables, name.keys))
    : (block.each?.after === true ? namesAfter : defaultNames)(group, points);
  return points.map((point, index) => ({ ...point, name: names[index]! }));
}

/** Turns a mistake that only shows at a point into an error like all others. */
export function atPlace<Result>(file: GroupsFile, work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof PointError)) throw error;
    const { keys, span, message: problem, fix } = error;
    const diagnostic = { keys, span, problem, fix };
    throw diagnosticsError(file.path, file.text, [locatedDiagnostic(file.placeOf)(diagnostic)]);
  }
}

function plannedGroup({ block, prerequisite }: ChosenGroup): PlannedGroup {
  const { group: name, title, needs, breaker } = block;
  const { content: method } = block.method;
  const isOpen = method.kind !== 'grid' && method.open;
  const open = isOpen ? { open: { method: method.kind, cap: method.cap ?? openCap } } : {};
  const whole = needs.filter(({ by }) => by.length === 0).map((need) => need.group);
  const keyed = [
    ...needs.flatMap((need) => (need.by.length === 0 ? [] : [{ group: need.group, by: [...need.by] }])),
    ...sourcesAfter(block).map((source) => ({ group: source, by: [] })),
  ];
  const needsBy = keyed.length === 0 ? {} : { needsBy: keyed };
  return { name, title, needs: whole, ...needsBy, prerequisite, breaker, ...open };
}

/** The source that open groups need to get further runs. */
function sourceOf(
  { path, text }: GroupsFile,
  compiled: readonly CompiledBlock[],
  { runsDirectory, cwd, set = [], zone }: ExpandOptions,
): Pick<Plan, 'source'> {
  const isOpen = compiled.some(({ block: { method } }) => method.content.kind !== 'grid' && method.content.open);
  if (!isOpen) return {};
  const hasStart = zone !== undefined && compiled.some(({ block: { start } }) => start !== null);
  return { source: { path, text, runsDirectory, cwd, set: [...set], ...(hasStart ? { zone } : {}) } };
}

/** `reach`: what options reach which groups, in words. */
type ForNotes = {
  readonly file: GroupsFile;
  readonly named: readonly NamedGroup[];
  readonly runs: readonly PlannedRun[];
  readonly reach: readonly string[];
};

/** Notes on keys without effect here, and on results that may be unexpected. */
function notesOf({ file, named, runs, reach }: ForNotes): Pick<Plan, 'notes'> {
  const byGroup = groupBy(runs, (run) => run.group);
  const notes = [
    ...file.notes,
    ...reach,
    ...named.flatMap(({ group }) => group.command.dropped.map(droppedNote)),
    ...named.flatMap(({ group, points }) => shortNote(group, points.length)),
    ...named.flatMap(({ group, points }) => (points.length === 0 ? idleNote(group.block) : [])),
    ...named.flatMap(({ group }) => listNote(group, byGroup.get(group.block.group) ?? [])),
    ...named.flatMap(({ group }) => alikeNote(group, byGroup.get(group.block.group) ?? [])),
  ];
  return notes.length === 0 ? {} : { notes };
}

/** A note on lists that are passed as one word, which argparse's `nargs` does not read. */
function listNote({ block, command }: CompiledBlock, [run]: readonly PlannedRun[]): string[] {
  if (block.dialect === 'wandb' || !oneWordMacros.some((macro) => command.macros.has(macro))) return [];
  const [name, value] = Object.entries(run?.parameters ?? {}).find(([, each]) => Array.isArray(each)) ?? [];
  if (name === undefined || !Array.isArray(value)) return [];
  const words = [`--${name}`, ...value.map((item) => valueText(item))].join(' ');
  return [
    `Group ${block.group}: \`${name}\` is passed as one word, \`--${name}=${valueText(value)}\`. For a program that takes words (argparse's \`nargs\`), \`\${args_words}\` in \`command\` passes \`${words}\`.`,
  ];
}

/** A note on runs with the same command. The variables for `wandb.init()` differ from run to run, but few programs read them. */
function alikeNote({ block }: CompiledBlock, runs: readonly PlannedRun[]): string[] {
  const own = ({ argv, env, cwd }: PlannedRun) =>
    JSON.stringify([argv, Object.keys(block.env.content).map((name) => env[name]), cwd]);
  if (runs.length < 2 || new Set(runs.map(own)).size > 1) return [];
  if (varyingNames(runs).every(isRepetition)) return [];
  const count = `The ${runs.length} commands of group ${block.group} are all alike`;
  return [
    block.dialect === 'wandb'
      ? `${count}: only \`wandb.config\` tells the program its values. If it reads its arguments, add \`\${args}\` to \`command\`.`
      : `${count}, and no parameter reaches the program. Add \`\${args}\` to \`command\`.`,
  ];
}

function droppedNote(word: string): string {
  return `${word} in \`command\` is not a macro; the word is left out, as in W&B.`;
}

function shortNote({ block, axes }: CompiledBlock, count: number): string[] {
  const { content: method } = block.method;
  if (method.kind === 'grid') return [];
  if (method.open) return [openNote(block.group, method)];
  const { cap } = method;
  if (cap === null || count >= cap) return [];
  const runs = runsOfDraw(axes);
  const draws = Math.floor(cap / runs);
  if (count === draws * runs) {
    return [`Group ${block.group}: \`run_cap: ${cap}\` has room for ${draws} points of ${runs} runs each.`];
  }
  const asked = `Group ${block.group}: of ${draws * runs} points that were asked for, only ${count} are different`;
  // Methods other than `lhs` draw again.
  return [method.kind === 'lhs' ? `${asked}; the other ${draws * runs - count} are dropped.` : `${asked}.`];
}

function idleNote({ group, each, when }: Block): string[] {
  if (each === null || when !== null) return [];
  const others = each.groups.map(({ name }) => name).join(', ');
  return [`Group ${group} has no runs: each would be one that group ${others} has.`];
}

function openNote(group: string, { kind, cap }: Method): string {
  const how = kind === 'bayes' ? 'by the results so far' : 'at random';
  const further = `Group ${group}: one run is proposed at once, and each further one ${how} when a slot is free, until there are ${cap ?? openCap}.`;
  return cap === null ? `${further} Set \`run_cap\` for another number; without it W&B would go on for ever.` : further;
}

/** A group to plan. `prerequisite`: it was not asked for, but another group needs it. */
type ChosenGroup = { readonly block: Block; readonly prerequisite: boolean };

/**
 * The groups to plan, in file order: those asked for (all but the optional ones when none was) and what they need.
 *
 * @throws {UserError} When a group is asked for that the file does not have.
 */
function chooseGroups(blocks: readonly Block[], asked: readonly string[]): ChosenGroup[] {
  const names = blocks.map(({ group }) => group);
  const unknown = asked.find((name) => !names.includes(name));
  if (unknown !== undefined) {
    throw new UserError(
      `There is no group \`${unknown}\` in this sweep. ${didYouMean(unknown, names)}`,
      `Choose among: ${names.join(' ')}`,
    );
  }
  const wanted = asked.length > 0 ? asked : blocks.filter(({ optional }) => !optional).map(({ group }) => group);
  const needed = neededBy(blocks, wanted);
  return blocks
    .filter(({ group }) => wanted.includes(group) || needed.has(group))
    .map((block) => ({ block, prerequisite: !wanted.includes(block.group) }));
}

/** The groups that the wanted groups wait for, directly or not. */
function neededBy(blocks: readonly Block[], wanted: readonly string[]): ReadonlySet<string> {
  const needs = new Map(blocks.map((block) => [block.group, neededGroups(block)]));
  const needed = new Set<string>();
  const follow = (group: string): void =>
    needs.get(group)?.forEach((name) => {
      if (needed.has(name)) return;
      needed.add(name);
      follow(name);
    });
  wanted.forEach(follow);
  return needed;
}

type CommandsFile = Extract<SweepFile, { kind: 'commands' }>;
const group = 'commands';

/**
 * The runs of a plain text file, one for each line, named by line and program: `003_train.py`.
 *
 * @throws {UserError} For `--set` and `--sweep`, which do not apply to a list of commands.
 */
function expandCommands(file: CommandsFile, options: ExpandOptions, kept: KeptNames): Plan {
  const sets = options.set ?? [];
  const env = Object.assign({}, ...sets.map((text) => variableIn(text, []))) as Record<string, string>;
  const at = sets.flatMap((text) => startAtIn(text) ?? []).at(-1);
  const start = startOf(at === undefined ? null : { at }, options.zone);
  const isOther = sets.some((text) => variableIn(text, []) === null && startAtIn(text) === null);
  const [option] = isOther ? ['--set'] : options.groups?.length ? ['--sweep'] : [];
  if (option !== undefined) {
    throw new UserError(
      `${file.path} is a list of commands: it has no parameters and no groups for \`${option}\`.`,
      'Leave the option out, or write the sweep as YAML.',
    );
  }
  if (file.lines.length > mostRuns) {
    throw new UserError(
      `${file.path} holds ${file.lines.length.toLocaleString('en-US')} commands; the limit is ${mostRuns.toLocaleString('en-US')}.`,
      'Split it into several files.',
    );
  }
  const digits = Math.max(3, String(file.lines.at(-1)!.line).length);
  const wanted = file.lines.map(({ line, argv, text }) => {
    return { name: `${String(line).padStart(digits, '0')}_${programName(argv)}`, parameters: { command: text } };
  });
  const names = kept.namesOf({ group, budget: [], derived: new Set(['command']) }, wanted);
  return {
    sweep: file.name,
    description: file.description,
    notify: null,
    groups: [{ name: group, title: null, needs: [], prerequisite: false, breaker: Breaker.parse({}) }],
    runs: file.lines.map((line, index) =>
      Object.assign(plannedLine(file, options, { ...line, env: { ...line.env, ...env } }, names[index]!), start),
    ),
  };
}

function plannedLine(file: CommandsFile, options: ExpandOptions, line: CommandLine, name: string): PlannedRun {
  return {
    id: `${file.name}/${name}` as RunId,
    sweep: file.name,
    group,
    subgroup: null,
    name,
    parameters: { command: line.text },
    identity: identityOf(group, { command: line.text }, []),
    argv: [...line.argv],
    resumeArgs: [],
    env: { ...line.env },
    cwd: joinPath(options.cwd, ''),
    directory: joinPath(options.runsDirectory, `${file.name}/${name}`),
    needs: [],
    done: { exit: 0 },
    stopWhen: null,
    resources: Resources.parse({}),
    grace: 10,
    timeout: null,
    priority: 0,
    retry: RetryRule.parse({}),
    objective: null,
    earlyTerminate: null,
    metrics: MetricChoice.parse({}),
  };
}
