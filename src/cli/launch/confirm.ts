import type { Fleet } from '../../client/fleet.js';
import { groupBy } from '../../base/group-by.js';
import { hasEnded, type RunWord } from '../../base/run-words.js';
import { parameterOf } from '../../base/scalar.js';
import { allOf, anyOf, type RunQuery } from '../../query/query.js';
import { printRunQuery, valueText } from '../../query/text.js';
import type { Field } from '../../query/words.js';
import { counted } from '../../text/numbers.js';
import { wrap } from '../../text/wrap.js';
import { identityOf } from '../../spec/expand/identity.js';
import { isRepetition } from '../../spec/expand/run-name.js';
import { changesBetween, differingParameters } from '../../spec/policy/completion.js';
import { compactNames } from '../../text/compact-names.js';
import { confirm } from '../act-on-runs.js';
import { requestedSlots, type SlotOptions } from '../options.js';
import { hasPerson, outputWidth, print } from '../terminal.js';
import {
  type Change,
  type Comparison,
  type Difference,
  isEdited,
  isKnown,
  isOutdated,
  isQueued,
  isUp,
  type Setting,
} from './compare.js';
import { estimateOf, type Room, timeOf } from './estimate.js';

/**
 * Whether the changes of a known sweep may be made: they are shown, and confirmed if a user can be asked. Launching an unchanged
 * file again, or a new sweep, needs no confirmation.
 */
export async function isAgreed({ plan, difference }: Comparison, fleet: Fleet): Promise<boolean> {
  const isNew = !fleet.sweeps.has(difference.sweep) && plan.planned.every(({ standing }) => standing.state === 'new');
  const isAsked = isEdited(difference);
  if (isNew || !isKnown(difference) || (!isAsked && !isOutdated(difference))) return true;
  print(editLines({ plan, difference }, fleet, outputWidth()));
  return !isAsked || plan.options.yes === true || !hasPerson() || (await confirm('Proceed?'));
}

/** The changes of a known sweep, and what they add to its time. */
function editLines({ plan: { plan, options }, difference }: Comparison, fleet: Fleet, width: number): string[] {
  const room = roomOf(fleet, options);
  const time = timeOf(estimateOf(difference, plan, fleet, { room, now: Date.now() }), difference);
  const head = `${plan.sweep}: ${differenceSummary(difference)}${time === null ? '' : `; ${time}`}`;
  return [head, ...differenceLines(difference, { width: width - 2, leavesBroken: false }).map((line) => `  ${line}`)];
}

/** The slots that the supervisor uses, with the requested changes. */
function roomOf({ status }: Pick<Fleet, 'status'>, options: SlotOptions): Room {
  const { slots, gpus } = requestedSlots(options);
  const free = status.gpus.filter(({ drained, leasedBy }) => !drained && leasedBy === null).length;
  return { cpuSlots: slots ?? status.cpu.slots, gpus: gpus === undefined ? free : gpus === 'none' ? 0 : gpus.length };
}

type LineOptions = {
  /** Width of the layout in columns. */
  readonly width: number;
  /** Whether runs that were interrupted or failed are left alone: only a launch starts them again. */
  readonly leavesBroken: boolean;
};

/** `3 new runs, 7 with a larger budget, 2 with other settings`; empty: there are no changes. */
export function differenceSummary({ changes }: Difference): string {
  const count = (test: (change: Change) => boolean) => changes.filter(test).length;
  const [fresh, longer] = [count(({ kind }) => kind === 'new'), count(({ kind }) => kind === 'longer')];
  const other = count(({ kind, settings, state }) => kind === 'same' && settings.length > 0 && isQueued(state));
  const changed = count((change) => change.changedSince.length > 0);
  return [
    ...(fresh === 0 ? [] : [`${fresh} new ${fresh === 1 ? 'run' : 'runs'}`]),
    ...(longer === 0 ? [] : [`${longer} with a larger budget`]),
    ...(other === 0 ? [] : [`${other} with other settings`]),
    ...(changed === 0 ? [] : [`${changed} done before a change`]),
  ].join(', ');
}

/** Of done runs that the file would now run differently: that they are skipped, in one line; null: there are none. */
export function skippedNote({ changes }: Difference): string | null {
  const changed = changes.filter(({ changedSince }) => changedSince.length > 0);
  if (changed.length === 0) return null;
  const what = [...new Set(changed.flatMap(({ changedSince }) => changedSince))].join(', ');
  const they = changed.length === 1 ? 'run is' : 'runs are';
  return `${changed.length} done ${they} not run again although ${what} changed since; --dry-run says how`;
}

/** What a launch would change, group by group, and what it would not. Plain text. */
export function differenceLines(difference: Difference, options: LineOptions): string[] {
  const { changes, absent } = difference;
  const groups = groupBy(changes, ({ run }) => run.group);
  const lines = [...groups].flatMap(([group, own]) => {
    const indent = ' '.repeat(group.length + 2);
    const isWhole = absent.every((run) => run.group !== group);
    const texts = groupTexts(own, { ...options, isWhole, width: options.width - indent.length });
    return texts.map((text, index) => `${index === 0 ? `${group}  ` : indent}${text}`);
  });
  return [...lines, ...absentLines(difference, options.width)];
}

/** `isWhole`: the group has no other runs. */
type GroupOptions = LineOptions & { readonly isWhole: boolean };

function groupTexts(changes: readonly Change[], { width, leavesBroken, isWhole }: GroupOptions): string[] {
  const of = (kind: Change['kind']) => changes.filter((change) => change.kind === kind);
  const [fresh, again] = [of('new'), of('again')];
  const same = of('same').filter((change) => change.changedSince.length === 0);
  return [
    ...(fresh.length === 0 ? [] : [named(fresh, `${fresh.length} new: `, width)]),
    ...distinctTexts(fresh, width),
    ...keptTexts(changes, width),
    ...[...groupBy(of('longer'), ({ growth }) => growth!)].map(
      ([growth, runs]) => `${growth}: ${longerWords(runs, leavesBroken)}`,
    ),
    ...settingTexts(changes),
    ...(again.length === 0 ? [] : [againText(again, leavesBroken)]),
    ...changedTexts(changes, isWhole),
    ...(same.length === 0 ? [] : [`${same.length} unchanged: ${stateCounts(same)}`]),
  ];
}

/** New runs whose names are taken by other runs, most often because of a budget that is not in `extends`. */
function distinctTexts(fresh: readonly Change[], width: number): string[] {
  const told = fresh.flatMap(({ run, distinctFrom }) => (distinctFrom === null ? [] : [{ run, ...distinctFrom }]));
  const other = told.find(({ parameters }) => parameters !== null);
  if (other === undefined) return [];
  const { run, taken, parameters } = other;
  const head = `${counted(told.length, 'name')} ${told.length === 1 ? 'is' : 'are'} taken`;
  const why = changesBetween(parameters!, run.parameters).join(', ');
  const names = differingParameters(parameters!, run.parameters);
  const isGrown = names.every((name) =>
    isBudget(name, parameterOf(parameters!, name), parameterOf(run.parameters, name)),
  );
  return [
    ...wrap(`${head}: ${taken} exists with other parameters (${why})`, width, '  '),
    ...(isGrown ? [`  to continue those runs instead: extends: [${names.join(', ')}]`] : []),
  ];
}

/** Runs that the file would now name differently. */
function keptTexts(changes: readonly Change[], width: number): string[] {
  const kept = changes.filter(({ nameByFile }) => nameByFile !== null);
  const [first] = kept;
  if (first === undefined) return [];
  const head = `${kept.length} ${kept.length === 1 ? 'keeps its name' : 'keep their names'}: `;
  const tail = ` (${first.nameByFile!} by the file)`;
  return [named(kept, head, width - tail.length) + tail];
}

/** Done runs that the file would now run differently. */
function changedTexts(changes: readonly Change[], isWhole: boolean): string[] {
  const changed = changes.filter(({ changedSince }) => changedSince.length > 0);
  const isAll = isWhole && changes.every(({ state, changedSince }) => state !== 'done' || changedSince.length > 0);
  return [...groupBy(changed, ({ changedSince }) => changedSince.join(' and '))].flatMap(([what, runs]) => {
    const [they, them] = runs.length === 1 ? ['it', 'it'] : ['they', 'them'];
    const { sweep, group } = runs[0]!.run;
    const ofGroup =
      isAll && runs.length === changed.length ? [field('group', [group]), field('status', ['done'])] : null;
    const query = allOf([
      field('sweep', [sweep]),
      ...(ofGroup ?? [
        field(
          'name',
          runs.map(({ run }) => run.name),
        ),
      ]),
    ]);
    return [
      `${runs.length} done and not run again: ${what} changed since ${they} ran`,
      `  to delete what ${they} wrote and run ${them} again: memrl-tui clean --done '${printRunQuery(query)}', then launch the file`,
    ];
  });
}

function named(changes: readonly Change[], head: string, width: number): string {
  const names = changes.map(({ run }) => run.name);
  return head + compactNames(names, width - head.length);
}

/** What happens to runs whose budget grew, by state. */
function longerWords(changes: readonly Change[], leavesBroken: boolean): string {
  const parts = groupBy(changes, ({ state }) => longerPart(state, leavesBroken));
  return [...parts].map(([part, runs]) => `${stateCounts(runs)} ${part}`).join('; ');
}

function longerPart(state: RunWord | null, leavesBroken: boolean): string {
  if (isQueued(state)) return 'to start with it';
  if (isUp(state)) return 'to continue with it after the present attempt';
  if (state === 'done') return 'to continue with it';
  return leavesBroken ? 'left as they are' : 'to be started again with it';
}

/** Changed settings, and the runs that they still affect. */
function settingTexts(changes: readonly Change[]): string[] {
  const each = changes.flatMap((change) => change.settings.map((setting) => ({ change, text: settingText(setting) })));
  return [...groupBy(each, ({ text }) => text)].map(([text, found]) => {
    const runs = found.map(({ change }) => change);
    const [queued, up] = [runs.filter(({ state }) => isQueued(state)), runs.filter(({ state }) => !isQueued(state))];
    const longer = up.filter(({ kind }) => kind === 'longer');
    const kept = up.filter(({ kind }) => kind !== 'longer');
    const parts = [
      ...(queued.length === 0 ? [] : [`for ${stateCounts(queued)}`]),
      ...(longer.length === 0 ? [] : [`for ${stateCounts(longer)} from the next attempt on`]),
      ...(kept.length === 0 ? [] : [`not for ${stateCounts(kept)}, until launched again`]),
    ];
    return `${text}: ${parts.join('; ')}`;
  });
}

/** A changed setting: `retry: none → 3 retries`, `command changed`. */
function settingText({ key, was, now }: Setting): string {
  if (was === null && now === null) return `${key} changed`;
  return `${key} ${was ?? 'not set'} → ${now ?? 'not set'}`;
}

function againText(changes: readonly Change[], leavesBroken: boolean): string {
  const what = leavesBroken ? 'left as they are; a launch of the file starts them again' : 'to be started again';
  return `${stateCounts(changes)} ${what}`;
}

/** Counts by state: `2 queued, 1 running`, in the order of a run's life. */
function stateCounts(changes: readonly { readonly state: RunWord | null }[]): string {
  const counts = groupBy(changes, ({ state }) => state ?? 'unfinished');
  const inOrder = [...counts].sort(([a], [b]) => life.indexOf(a) - life.indexOf(b));
  return inOrder.map(([word, members]) => `${members.length} ${word}`).join(', ');
}

const life: readonly (RunWord | 'unfinished')[] = [
  ...(['held', 'queued', 'starting', 'running', 'paused', 'stopping', 'done'] as const),
  ...(['failed', 'killed', 'lost', 'unfinished'] as const),
];

function absentLines(difference: Difference, width: number): string[] {
  const { changes, absent } = difference;
  if (absent.length === 0) return [];
  const head = `not in the file: ${counted(absent.length, 'run')} (`;
  const names = absent.map(({ name }) => name);
  const up = absent.filter(({ state }) => state !== null && !hasEnded(state));
  const states = up.length === 0 ? '' : `, ${stateCounts(up)}`;
  return [
    `${head}${compactNames(names, width - head.length - 2)})${states}; they stay.`,
    ...(up.length === 0 ? [] : [`  to end them: memrl-tui kill '${queryOf(difference, up)}'`]),
    `  to hide them: filter by not (${queryOf(difference, absent)})`,
    ...otherTexts(changes, absent),
  ];
}

/** Why runs that look alike are different ones. */
function otherTexts(changes: readonly Change[], absent: Difference['absent']): string[] {
  const fresh = changes.filter(({ kind }) => kind === 'new');
  return [...groupBy(absent, ({ group }) => group)].flatMap(([group, runs]) => {
    const own = fresh.filter(({ run }) => run.group === group);
    const planned = own.map(({ run }) => run);
    if (own.length === 0)
      return groupTextsOf(
        group,
        fresh.map(({ run }) => run),
        runs,
      );
    const isSaid = own.some(({ distinctFrom }) => distinctFrom !== null);
    return [...parameterTexts(planned, runs), ...(isSaid ? [] : budgetTexts(planned, runs))];
  });
}

/** Whether a parameter probably belongs into `extends`. */
function isBudget(name: string, was: unknown, is: unknown): boolean {
  return typeof was === 'number' && typeof is === 'number' && is > was && !isRepetition(name);
}

/** A number that all runs had and that is larger now: most often the length of training. */
function budgetTexts(fresh: readonly Parameterized[], before: readonly Parameterized[]): string[] {
  const onlyNumber = (runs: readonly Parameterized[], name: string): number | null => {
    const values = new Set(runs.map(({ parameters }) => parameterOf(parameters, name)));
    const [value] = values;
    return values.size === 1 && typeof value === 'number' ? value : null;
  };
  const grown = Object.keys(fresh[0]!.parameters).flatMap((name) => {
    const [was, is] = [onlyNumber(before, name), onlyNumber(fresh, name)];
    return isBudget(name, was, is) ? [{ name, was, is }] : [];
  });
  if (grown.length === 0) return [];
  const words = grown.map(({ name, was, is }) => `${name} was ${was} and is ${is}`);
  const names = grown.map(({ name }) => name);
  return [`  ${words.join(', ')}; to continue those runs instead: extends: [${names.join(', ')}]`];
}

/** Parameters that all runs of the file have and earlier ones had not, or the reverse. */
function parameterTexts(fresh: readonly Parameterized[], before: readonly Parameterized[]): string[] {
  const [now, then] = [fresh, before].map((runs) => new Set(runs.flatMap(({ parameters }) => Object.keys(parameters))));
  const added = [...now!].filter((name) => !then!.has(name));
  const gone = [...then!].filter((name) => !now!.has(name));
  const words = [
    ...(added.length === 0 ? [] : [`${added.join(', ')} is new in the file`]),
    ...(gone.length === 0 ? [] : [`${gone.join(', ')} is no longer in it`]),
  ];
  return words.length === 0 ? [] : [`  other parameters make other runs: ${words.join(', ')}`];
}

/** A group that was probably renamed. */
function groupTextsOf(group: string, fresh: readonly Change['run'][], before: readonly Parameterized[]): string[] {
  const keys = new Set(before.map(({ parameters }) => identityOf('', parameters, [])));
  const same = fresh.find((run) => keys.has(identityOf('', run.parameters, [])));
  if (same === undefined) return [];
  return [
    `  another group makes other runs: those of ${same.group} have parameters of ${group}, and are started as new ones`,
    `  to keep them: call the group ${group} again; its \`title\` is what is shown`,
  ];
}

type Parameterized = Pick<Change['run'], 'parameters'>;

/** A list of more names is replaced by values of a parameter, where there are some. */
const MOST_NAMES = 4;

/**
 * A query for these runs, and none of the file: by group if the file no longer has it, by a parameter's values if only runs that it no
 * longer has have them, else by name. Those that `runs` leaves out of a group may be among them.
 */
function queryOf({ sweep, changes }: Difference, runs: Difference['absent']): string {
  const planned = groupBy(
    changes.map(({ run }) => run),
    ({ group }) => group,
  );
  const [gone, named, chosen] = [[], [], []] as [string[], string[], RunQuery[]];
  for (const [group, members] of groupBy(runs, (run) => run.group)) {
    const kept = planned.get(group);
    const values = kept === undefined || members.length <= MOST_NAMES ? null : valuesOf(members, kept);
    if (kept === undefined) gone.push(group);
    else if (values === null) named.push(...members.map(({ name }) => name));
    else chosen.push(planned.size === 1 ? values : allOf([field('group', [group]), values]));
  }
  const listed = [field('group', gone), field('name', named)].filter(({ choices }) => choices.length > 0);
  return printRunQuery(allOf([field('sweep', [sweep]), anyOf([...listed, ...chosen])]));
}

function field(name: Field, choices: readonly string[]): Extract<RunQuery, { kind: 'field' }> {
  return { kind: 'field', field: name, choices };
}

/** A parameter's value as a query has it; null: it has none that stands for itself. */
function textOf({ parameters }: Parameterized, name: string): string | null {
  const value = parameterOf(parameters, name);
  return value === undefined || value === null || typeof value === 'object' ? null : valueText(value);
}

/** A few values of one parameter that all of these runs have, and none of the others has; null: there are none. */
function valuesOf(runs: readonly Parameterized[], others: readonly Parameterized[]): RunQuery | null {
  const names = new Set(runs.flatMap(({ parameters }) => Object.keys(parameters)));
  const found = [...names].flatMap((name) => {
    const textsOf = (each: readonly Parameterized[]) => new Set(each.map((run) => textOf(run, name)));
    const [values, taken] = [[...textsOf(runs)], textsOf(others)];
    const isFit = values.length <= MOST_NAMES && values.every((value) => value !== null && !taken.has(value));
    return isFit ? [{ name, values: values as string[] }] : [];
  });
  const [best] = found.sort((one, other) => one.values.length - other.values.length);
  if (best === undefined) return null;
  return anyOf(best.values.map((value) => ({ kind: 'value', key: best.name, operator: '=', value })));
}
