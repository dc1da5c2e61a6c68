import type { Plan, Completion } from '../../spec/planned-run.js';
import { groupLines } from './group-lines.js';
import type { Planned } from './planned.js';
import { wrapCharacters } from '../../text/wrap-command.js';

export type PlanOptions = {
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
    ...(plan.description === null ? [] : wrapCharacters(plan.description, width - 2).map((line) => `  ${line}`)),
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
      : ['', ...wrapCharacters('Commands are those of the first run of each group; --verbose shows all.', width)]),
  ];
  // A command may hold a whole script.
  return lines.flatMap((line) => line.split('\n'));
}

function fact(name: string, text: string, width: number): string[] {
  return wrapCharacters(text, width - 9).map((line, index) => `  ${(index === 0 ? name : '').padEnd(7)}${line}`);
}

/** `48 runs in 4 groups, + 5 prerequisites`. */
function totals(planned: readonly Planned[], plan: Plan): string {
  const prerequisites = new Set(plan.groups.filter(({ prerequisite }) => prerequisite).map(({ name }) => name));
  const asked = planned.filter(({ run }) => !prerequisites.has(run.group));
  const groups = new Set(asked.map(({ run }) => run.group)).size;
  const extra = planned.length - asked.length;
  const own = `${counted(asked.length, 'run')} in ${counted(groups, 'group')}`;
  return extra === 0 ? own : `${own}, + ${counted(extra, 'prerequisite')}`;
}

const words: Record<Completion['state'], string> = { new: 'to start', resume: 'to resume', done: 'done already' };

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

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
