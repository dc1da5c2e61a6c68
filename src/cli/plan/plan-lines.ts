import { groupBy } from '../../base/group-by.js';
import { varyingNames } from '../../spec/expand/run-name.js';
import { valueText } from '../../spec/expand/value-text.js';
import type { Completion, Plan, PlannedGroup } from '../../spec/planned-run.js';
import { policyWords } from '../../spec/policy/policy-words.js';
import { counted } from '../../text/numbers.js';
import { shellQuote } from '../../text/shell-words.js';
import { wrap, wrapCommand } from '../../text/wrap.js';
import { compactNames } from './compact-names.js';
import type { Planned } from './plan-json.js';

type PlanOptions = {
  /** Columns to lay out in. */
  readonly width: number;
  /** The command of every run instead of the first of each group, and every run by name. */
  readonly verbose: boolean;
  /** `cpu 0`, `gpu 3`: where runs would go. */
  readonly slots: readonly string[];
};

/**
 * What `--dry-run` prints: the sweep, then each group with its runs, what varies, its command, and what is skipped or
 * resumed and why. Plain text; every command can be copied into a shell as it stands.
 *
 * @param planned One for each run of the plan, in its order.
 */
export function planLines(planned: readonly Planned[], plan: Plan, options: PlanOptions): string[] {
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
    ...fact('slots', slotsText(options.slots), width),
    ...fact('into', directory, width),
    ...fact('from', from, width),
    ...(plan.notes ?? []).flatMap((note) => fact('note', note, width)),
    ...groups,
    ...(options.verbose
      ? []
      : ['', ...wrap('Commands are those of the first run of each group; --verbose shows all.', width, '')]),
  ];
  // A command may hold a whole script.
  return lines.flatMap((line) => line.split('\n'));
}

function fact(name: string, text: string, width: number): string[] {
  return wrap(text, width - 9, '').map((line, index) => `  ${(index === 0 ? name : '').padEnd(7)}${line}`);
}

/** `48 runs in 4 groups, + 5 prerequisites`. */
function totals(planned: readonly Planned[], plan: Plan): string {
  const prerequisites = new Set(plan.groups.filter(({ prerequisite }) => prerequisite).map(({ name }) => name));
  const asked = planned.filter(({ run }) => !prerequisites.has(run.group));
  const groups = new Set(asked.map(({ run }) => run.group)).size;
  const extra = planned.length - asked.length;
  const own = `${counted(asked.length, 'run')} in ${counted(groups, 'group')}`;
  const whole = extra === 0 ? own : `${own}, + ${counted(extra, 'prerequisite')}`;
  const further = plan.groups.reduce((sum, group) => sum + furtherOf(group, planned), 0);
  return further === 0 ? whole : `${whole}; up to ${further} more are proposed one by one`;
}

/** Runs of an open group that are not in the plan. */
function furtherOf({ name, open }: PlannedGroup, planned: readonly Planned[]): number {
  return open === undefined ? 0 : Math.max(0, open.cap - planned.filter(({ run }) => run.group === name).length);
}

const words: Record<Completion['state'], string> = { new: 'to start', resume: 'to resume', done: 'already done' };

function work(planned: readonly Planned[]): string {
  const states = Object.keys(words) as Completion['state'][];
  return states
    .map((state) => ({ state, count: planned.filter(({ standing }) => standing.state === state).length }))
    .filter(({ count }) => count > 0)
    .map(({ state, count }) => `${count} ${words[state]}`)
    .join(', ');
}

function slotsText(slots: readonly string[]): string {
  return slots.length === 0
    ? 'none'
    : `${slots.length} (${slots.length > 8 ? `${slots[0]} … ${slots.at(-1)}` : slots.join(', ')})`;
}

type GroupOptions = {
  readonly width: number;
  readonly verbose: boolean;
  /** Directory that commands start in unless they say so. */
  readonly from: string;
};

/** A group of the plan: heading, names, what varies, command, and what will not simply be started. */
function groupLines(group: PlannedGroup, planned: readonly Planned[], options: GroupOptions): string[] {
  const { width, verbose } = options;
  return [
    ...heading(group, planned, width),
    ...(group.needs.length === 0 ? [] : labelled('after', group.needs.join(', '), width)),
    ...(verbose ? everyRun(planned, options) : [...names(planned, width), ...variation(planned, width)]),
    ...policy(planned, width),
    ...(verbose ? [] : standings(planned, width)),
    ...(verbose ? [] : command(planned[0]!, options)),
  ];
}

function heading({ name, title, prerequisite }: PlannedGroup, planned: readonly Planned[], width: number): string[] {
  const count = `${planned.length} ${prerequisite ? 'prerequisite' : 'run'}${planned.length === 1 ? '' : 's'}`;
  const [first = name, ...more] = wrap(title === null ? name : `${name}  ${title}`, width - count.length - 2, '');
  // The two blanks between name and title are lost in wrapping.
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
function names(planned: readonly Planned[], width: number): string[] {
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

/** Which parameters differ between the runs of the group, and their values. */
function variation(planned: readonly Planned[], width: number): string[] {
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

/** How the runs are treated where that is not the usual way; what is not so for all of them says for which. */
function policy(planned: readonly Planned[], width: number): string[] {
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

/** What is skipped or resumed, and why; new runs need no explanation. */
function standings(planned: readonly Planned[], width: number): string[] {
  const told = planned.filter(({ standing }) => standing.state !== 'new');
  const alike = groupBy(told, ({ standing }) => `${standing.state} ${standing.reason}`);
  return [...alike.values()].flatMap((members) => {
    const { state, reason } = members[0]!.standing;
    const which =
      members.length === planned.length
        ? 'all'
        : compactNames(
            members.map(({ run }) => run.name),
            width - margin,
          );
    return labelled(label(state), `${which}: ${reason}`, width);
  });
}

function label(state: Completion['state']): string {
  return { new: 'start', resume: 'resume', done: 'skip' }[state];
}

function everyRun(planned: readonly Planned[], options: GroupOptions): string[] {
  return planned.flatMap((one) => [
    ...labelled(label(one.standing.state), `${one.run.name}: ${one.standing.reason}`, options.width),
    ...command(one, options),
  ]);
}

/** The exact command, to be copied into a shell. */
function command({ run }: Planned, { width, from }: GroupOptions): string[] {
  const assignments = Object.entries(run.env).map(([name, value]) => `${name}=${shellQuote([value])}`);
  const elsewhere = run.cwd === from ? [] : ['cd', shellQuote([run.cwd]), '&&'];
  const words = [...elsewhere, ...assignments, ...run.argv.map((word) => shellQuote([word]))];
  return wrapCommand(words, width - margin - 2).map(
    (line, index) => `  ${(index === 0 ? 'command' : '').padEnd(margin - 2)}${index === 0 ? '' : '  '}${line}`,
  );
}
