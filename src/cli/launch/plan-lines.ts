import { groupBy } from '../../base/group-by.js';
import { hasEnded, runStates, type RunWord } from '../../base/run-words.js';
import { varyingNames } from '../../spec/expand/run-name.js';
import { valueText } from '../../spec/expand/value-text.js';
import type { Completion, Plan, PlannedGroup } from '../../spec/planned-run.js';
import { policyWords } from '../../spec/policy/policy-words.js';
import { counted } from '../../text/numbers.js';
import { shellQuote } from '../../text/shell-words.js';
import { wrap, wrapCommand } from '../../text/wrap.js';
import { compactNames } from '../../text/compact-names.js';
import { type Change, type Difference, isEdited, isKnown, isOutdated, isQueued, resumes } from './compare.js';
import { differenceLines, differenceSummary } from './confirm.js';
import { plannedStart, startWords } from './start-time.js';

type Clock = { readonly now: number; readonly zone: string };

type PlanOptions = {
  /** Width of the layout in columns. */
  readonly width: number;
  /** Show the command of every run instead of the first of each group, and the names of all runs. */
  readonly verbose: boolean;
  /** The slots of the runs: `cpu 0`, `gpu 3`. */
  readonly slots: readonly string[];
  /** The estimated duration in words; null: unknown. */
  readonly time: string | null;
  /** The time and the time zone of who reads it, for start times. */
  readonly clock: Clock;
};

/**
 * The output of `--dry-run`: the sweep, the changes of a known one, then each group with its runs, varying parameters, command, and
 * which runs are live, skipped or resumed and why. Plain text; every command can be copied into a shell.
 */
export function planLines(difference: Difference, plan: Plan, options: PlanOptions): string[] {
  const planned = difference.changes;
  const width = Math.max(40, options.width);
  const directory = planned[0]!.run.directory.split('/').slice(0, -1).join('/');
  const from = planned[0]!.run.cwd;
  const groups = plan.groups.flatMap((group) => {
    const own = planned.filter(({ run }) => run.group === group.name);
    return own.length === 0 ? [] : ['', ...groupLines(group, own, { ...options, width, from })];
  });
  const lines = [
    plan.sweep,
    ...(plan.description === null ? [] : wrap(plan.description, width - 2, '').map((line) => `  ${line}`)),
    '',
    ...fact('runs', totals(planned, plan), width),
    ...fact('to do', work(planned), width),
    ...(options.time === null ? [] : fact('time', options.time, width)),
    ...fact('slots', slotsText(options.slots), width),
    ...fact('into', directory, width),
    ...fact('from', from, width),
    ...(plan.notes ?? []).flatMap((note) => fact('note', note, width)),
    ...edit(difference, width),
    ...groups,
    ...(options.verbose
      ? []
      : ['', ...wrap('Commands are those of the first run of each group; --verbose shows all.', width, '')]),
  ];
  // A command may contain a whole script.
  return lines.flatMap((line) => line.split('\n'));
}

/** The changes of existing runs; empty if the file is unchanged. */
function edit(difference: Difference, width: number): string[] {
  const isRenamed = difference.changes.some(({ nameByFile }) => nameByFile !== null);
  const isNews = isEdited(difference) || isOutdated(difference) || isRenamed || difference.absent.length > 0;
  if (!isKnown(difference) || !isNews) return [];
  const summary = differenceSummary(difference);
  const lines = differenceLines(difference, { width: width - 2, leavesBroken: false });
  return ['', `changes${summary === '' ? '' : `: ${summary}`}`, ...lines.map((line) => `  ${line}`)];
}

function fact(name: string, text: string, width: number): string[] {
  return wrap(text, width - 9, '').map((line, index) => `  ${(index === 0 ? name : '').padEnd(7)}${line}`);
}

/** The totals: `48 runs in 4 groups, + 5 prerequisites`. */
function totals(planned: readonly Change[], plan: Plan): string {
  const prerequisites = new Set(plan.groups.filter(({ prerequisite }) => prerequisite).map(({ name }) => name));
  const asked = planned.filter(({ run }) => !prerequisites.has(run.group));
  const groups = new Set(asked.map(({ run }) => run.group)).size;
  const extra = planned.length - asked.length;
  const own = `${counted(asked.length, 'run')} in ${counted(groups, 'group')}`;
  const whole = extra === 0 ? own : `${own}, + ${counted(extra, 'prerequisite')}`;
  const further = plan.groups.reduce((sum, group) => sum + furtherOf(group, planned), 0);
  return further === 0 ? whole : `${whole}; up to ${further} more are proposed one by one`;
}

/** Number of an open group's runs that are not in the plan. */
function furtherOf({ name, open }: PlannedGroup, planned: readonly Change[]): number {
  return open === undefined ? 0 : Math.max(0, open.cap - planned.filter(({ run }) => run.group === name).length);
}

const words: Record<Completion['state'], string> = { new: 'to start', resume: 'to resume', done: 'already done' };

/** What is left to do: `3 to start, 2 running, 1 already done`. */
function work(planned: readonly Change[]): string {
  const counts = groupBy(planned, (change) => liveState(change) ?? change.standing.state);
  const order = [...Object.keys(words).slice(0, 2), ...runStates, 'done'];
  return [...new Set(order)]
    .filter((word) => counts.has(word as RunWord))
    .map((word) => `${counts.get(word as RunWord)!.length} ${words[word as Completion['state']] ?? word}`)
    .join(', ');
}

/** The state of a run that has not ended; null: it has, or does not exist. */
function liveState({ row }: Change): RunWord | null {
  return row === null || hasEnded(row.state) ? null : row.state;
}

function slotsText(slots: readonly string[]): string {
  if (/^slurm/.test(slots[0] ?? '')) return slurmText(slots);
  return slots.length === 0
    ? 'none'
    : `${slots.length} (${slots.length > 8 ? `${slots[0]} … ${slots.at(-1)}` : slots.join(', ')})`;
}

function slurmText(slots: readonly string[]): string {
  const jobs = slots.filter((slot) => slot === 'slurm job').length;
  const workers = slots.length - jobs;
  const parts = [
    ...(jobs > 0 ? [counted(jobs, 'job')] : []),
    ...(workers > 0 ? [`up to ${counted(workers, 'worker')}`] : []),
  ];
  return `${parts.join(' and ')} of Slurm, which decides where and when`;
}

type GroupOptions = {
  readonly width: number;
  readonly verbose: boolean;
  /** Directory that commands start in by default. */
  readonly from: string;
  readonly clock: Clock;
};

/** The lines of a group: heading, names, varying parameters, command, and runs that are not simply started. */
function groupLines(group: PlannedGroup, planned: readonly Change[], options: GroupOptions): string[] {
  const { width, verbose } = options;
  return [
    ...heading(group, planned, width),
    ...(needWords(group).length === 0 ? [] : labelled('after', needWords(group).join(', '), width)),
    ...starts(planned, options),
    ...(verbose ? everyRun(planned, options) : [...names(planned, width), ...variation(planned, width)]),
    ...policy(planned, width),
    ...(verbose ? [] : standings(planned, width)),
    ...(verbose ? [] : command(planned[0]!, options)),
  ];
}

/** When the runs start that have to wait for it. A sweep that is known keeps the start time that it has. */
function starts(planned: readonly Change[], { width, clock }: GroupOptions): string[] {
  const times = planned.flatMap(({ row, run, standing }) => {
    if (row !== null && !hasEnded(row.state)) return row.startsAt ?? [];
    return standing.state === 'done' ? [] : (plannedStart(run, clock.now) ?? []);
  });
  if (times.length === 0) return [];
  return labelled('starts', startWords(Math.min(...times), clock.now, clock.zone), width);
}

/** The needs of a group in words: `sft`, `prepare with the same N`, `its own run of train or filter`. */
function needWords({ needs, needsBy = [] }: PlannedGroup): string[] {
  const after = needsBy.filter(({ by }) => by.length === 0).map(({ group }) => group);
  const keyed = needsBy.filter(({ by }) => by.length > 0);
  return [
    ...needs,
    ...keyed.map(({ group, by }) => `${group} with the same ${by.join(', ')}`),
    ...(after.length === 0 ? [] : [`its own run of ${after.join(' or ')}`]),
  ];
}

function heading({ name, title, prerequisite }: PlannedGroup, planned: readonly Change[], width: number): string[] {
  const count = `${planned.length} ${prerequisite ? 'prerequisite' : 'run'}${planned.length === 1 ? '' : 's'}`;
  const [first = name, ...more] = wrap(title === null ? name : `${name}  ${title}`, width - count.length - 2, '');
  // Wrapping removes one of the two blanks between name and title.
  const line = title === null || !first.startsWith(`${name} `) ? first : `${name}  ${first.slice(name.length + 1)}`;
  const indent = ' '.repeat(name.length + 2);
  return [`${line.padEnd(width - count.length - 1)} ${count}`, ...more.map((text) => `${indent}${text}`)];
}

const margin = 11;

function labelled(label: string, text: string, width: number): string[] {
  const lines = wrap(text, width - margin, '');
  return lines.map((line, index) => `  ${(index === 0 ? label : '').padEnd(margin - 2)}${line}`);
}

/** One line for each subgroup: its name, its size, its runs. */
function names(planned: readonly Change[], width: number): string[] {
  const subgroups = groupBy(planned, ({ run }) => run.subgroup ?? '');
  const widest = Math.max(...[...subgroups.keys()].map((name) => name.length));
  return [...subgroups].map(([subgroup, members], index) => {
    const label = index === 0 ? 'names' : '';
    const head = widest === 0 ? '' : `${subgroup.padEnd(widest)}  ${String(members.length).padStart(3)}  `;
    const room = width - margin - head.length;
    return `  ${label.padEnd(margin - 2)}${head}${compactNames(
      members.map(({ run }) => run.name),
      room,
    )}`;
  });
}

/** The parameters that differ between the runs of the group, and their values. */
function variation(planned: readonly Change[], width: number): string[] {
  const runs = planned.map(({ run }) => run);
  const varying = varyingNames(runs).map((name) => {
    const values = runs
      .filter(({ parameters }) => Object.hasOwn(parameters, name))
      .map(({ parameters }) => valueText(parameters[name]!));
    const shown = [...new Set(values)];
    const sometimes = values.length < runs.length ? ' (or not passed)' : '';
    const list = shown.join(' ');
    const fits = shown.length <= 8 && list.length <= width - margin - name.length - sometimes.length - 1;
    return `${name} ${fits ? list : `${shown[0]} … (${shown.length} values)`}${sometimes}`;
  });
  return varying.flatMap((text, index) => labelled(index === 0 ? 'varies' : '', text, width));
}

/** Settings that differ from the defaults; those of some runs only are listed with the runs. */
function policy(planned: readonly Change[], width: number): string[] {
  const said = groupBy(
    planned.flatMap(({ run }) => policyWords(run).map((words) => ({ words, name: run.name }))),
    ({ words }) => words,
  );
  const facts = [...said].map(([words, members]) => {
    if (members.length === planned.length) return words;
    const names = members.map(({ name }) => name);
    return `${words} (${compactNames(names, width - margin - words.length - 3)})`;
  });
  return facts.length === 0 ? [] : labelled('policy', facts.join('; '), width);
}

/** Runs that are live, skipped or resumed, and why; new runs need no explanation. */
function standings(planned: readonly Change[], width: number): string[] {
  const told = planned.filter((change) => change.standing.state !== 'new' || liveState(change) !== null);
  const alike = groupBy(told, (change) => `${labelOf(change)} ${reasonOf(change)}`);
  return [...alike.values()].flatMap((members) => {
    const [first] = members;
    const args = first!.run.resumeArgs;
    const which =
      members.length === planned.length
        ? 'all'
        : compactNames(
            members.map(({ run }) => run.name),
            width - margin,
          );
    const more = args.length > 0 && members.some(resumes) ? [`with ${shellQuote(args)}`] : [];
    return [
      ...labelled(labelOf(first!), `${which}: ${reasonOf(first!)}`, width),
      ...more.flatMap((text) => labelled('', text, width)),
    ];
  });
}

function labelOf(change: Change): string {
  return liveState(change) ?? label(change.standing.state);
}

/** Why the run is in its state, and what happens to it. */
function reasonOf(change: Change): string {
  const { row, growth, standing } = change;
  const state = liveState(change);
  if (state === null || row === null) return standing.reason;
  const attempt = row.attempt > 0 ? `attempt ${row.attempt}` : 'not started yet';
  const now = row.reason ?? attempt;
  return growth === null ? now : `${growth}, to ${isQueued(state) ? 'start' : 'continue'} with it; ${now}`;
}

function label(state: Completion['state']): string {
  return { new: 'start', resume: 'resume', done: 'skip' }[state];
}

function everyRun(planned: readonly Change[], options: GroupOptions): string[] {
  return planned.flatMap((one) => [
    ...labelled(labelOf(one), `${one.run.name}: ${reasonOf(one)}`, options.width),
    ...command(one, options),
  ]);
}

/** The exact command for a shell. */
function command(change: Change, { width, from }: GroupOptions): string[] {
  const { run } = change;
  const argv = resumes(change) ? [...run.argv, ...run.resumeArgs] : run.argv;
  const assignments = Object.entries(run.env).map(([name, value]) => `${name}=${shellQuote([value])}`);
  const elsewhere = run.cwd === from ? [] : ['cd', shellQuote([run.cwd]), '&&'];
  const words = [...elsewhere, ...assignments, ...argv.map((word) => shellQuote([word]))];
  return wrapCommand(words, width - margin - 2).map(
    (line, index) => `  ${(index === 0 ? 'command' : '').padEnd(margin - 2)}${index === 0 ? '' : '  '}${line}`,
  );
}
